// Well-known protobuf types by the word that the core's schemas have for them; a wrapper is decoded to what it wraps.
export const wellKnown = more =>
  new Map(
    Object.entries({
      Duration: 'duration',
      Timestamp: 'timestamp',
      Struct: 'struct',
      BoolValue: 'bool',
      StringValue: 'string',
      BytesValue: 'bytes',
      Int32Value: 'int32',
      UInt32Value: 'uint32',
      Int64Value: 'int64',
      UInt64Value: 'uint64',
      FloatValue: 'float',
      DoubleValue: 'double',
      ...more,
    }).map(([name, word]) => [`google.protobuf.${name}`, word]),
  );

export interface ProxyReader {
  readonly asks: string;
}

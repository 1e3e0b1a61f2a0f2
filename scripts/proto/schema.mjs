export function istioSchema() {
  return { schema: '', types: '' };
}

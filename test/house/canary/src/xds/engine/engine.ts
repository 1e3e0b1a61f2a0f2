export const engine = 'engine';

export const index = 'the entry';

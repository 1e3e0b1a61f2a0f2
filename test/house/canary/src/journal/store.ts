export const wrong = 1;

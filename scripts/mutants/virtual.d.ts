// The module that the Vite plugin of collect.ts makes.
declare module 'virtual:tests-of-the-folder';

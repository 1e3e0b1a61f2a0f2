// Style sheets are imported for their effect on the bundle; they export no names.
declare module '*.css';

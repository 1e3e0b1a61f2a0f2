// Dark or light: what the system prefers, until the reader switches. The choice is kept in this browser alone.

export type Theme = 'light' | 'dark';

const KEY = 'periplus-theme';

export function systemTheme(): Theme {
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** The reader's choice, or the system's. */
export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === 'light' || kept === 'dark') return kept;
  } catch {
    // Storage is switched off: the system decides.
  }
  return systemTheme();
}

export function keepTheme(theme: Theme): void {
  try {
    if (theme === systemTheme()) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

/** Calls when the system's preference changes. Returns what ends it. */
export function onSystemTheme(changed: (theme: Theme) => void): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const listener = (): void => changed(chosenTheme());
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

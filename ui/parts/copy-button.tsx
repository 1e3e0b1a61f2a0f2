// Copies a text, and says that it did.

import { useState } from 'preact/hooks';

const SHOWN_MS = 2_000;

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [told, setTold] = useState('');
  const copy = async (): Promise<void> => {
    setTold((await copied(text)) ? 'Copied' : 'Not allowed here');
    setTimeout(() => setTold(''), SHOWN_MS);
  };
  return (
    <button type="button" onClick={() => void copy()} title={text.length > 400 ? undefined : text}>
      {told === '' ? what : told}
    </button>
  );
}

/** The clipboard's interface exists on secure addresses alone; elsewhere a selected text is copied. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

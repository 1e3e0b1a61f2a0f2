// The keys, in a dialog.

import { useEffect, useRef } from 'preact/hooks';

const KEYS: readonly (readonly [readonly string[], string])[] = [
  [['1', '…', '7'], 'timeline, mesh, proxies, objects, differences, pushes, find the cause'],
  [['[', ']'], 'one event back, one event on'],
  [['+', '-', '0'], 'zoom in, zoom out, the whole journal'],
  [['←', '→'], 'move the visible part'],
  [['↑', '↓', 'Home', 'End'], 'move in a list'],
  [['r'], 'compare with this moment: then move to the other; again: no comparison'],
  [['/'], 'search'],
  [['n'], 'the newest event'],
  [['?'], 'this list'],
];

export function Help({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h1 id="help-title">Keys</h1>
      <table>
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={what}>
              <td>
                {keys.map(key => (
                  <>
                    <kbd>{key}</kbd>{' '}
                  </>
                ))}
              </td>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">
        On the strip: click for a moment, drag for a range, turn the wheel to zoom. All times are UTC. The address holds
        all that is on screen; a copied link reopens it.
      </p>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}

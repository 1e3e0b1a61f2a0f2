// The product page: the book, and the reviews with the version that answered, so that a shift of traffic is visible.

export interface Review {
  readonly reviewer: string;
  readonly text: string;
  readonly stars?: number;
  readonly color?: string;
}

export interface ReviewsAnswer {
  readonly version: string;
  readonly reviews: readonly Review[];
}

export function pageHtml(
  details: { readonly title: string; readonly author: string; readonly year: number; readonly pages: number },
  reviewed: ReviewsAnswer,
): string {
  const reviews = reviewed.reviews
    .map(review => {
      const stars =
        review.stars === undefined ? '' : `<p style="color:${review.color}">${'★'.repeat(review.stars)}</p>`;
      return `<blockquote><p>${review.text}</p>${stars}<footer>${review.reviewer}</footer></blockquote>`;
    })
    .join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${details.title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}blockquote{border-left:3px solid #ccc;margin:1rem 0;padding:0 1rem}</style>
</head><body>
<h1>${details.title}</h1>
<p>${details.author}, ${details.year}, ${details.pages} pages</p>
<h2>Reviews <small>served by reviews-${reviewed.version}</small></h2>
${reviews}
</body></html>
`;
}

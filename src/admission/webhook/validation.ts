// The answer to a body of /validate, and what is counted and logged of it: data, so that a thread can make it.

import { type AdmissionRequest, parseReview, reviewText } from './review.ts';
import { verdictOn } from './validate.ts';

export interface Validation {
  readonly text: string;
  /** Absent: nothing is counted. The request is without its object. */
  readonly counted?: { readonly request: AdmissionRequest; readonly reason: string | undefined };
  readonly logged?: { readonly level: 'info' | 'error'; readonly message: string };
}

/** Never throws. */
export function validationOf(body: string): Validation {
  const request = parseReview(body);
  if (typeof request === 'string') return { text: reviewText(undefined, { allowed: false, message: request }) };
  try {
    const { reason, ...answer } = verdictOn(request);
    const message = `validation of ${request.resource} in ${request.namespace}: ${answer.message ?? reason}`;
    return {
      text: reviewText(request, answer),
      ...(reason === undefined || !request.dryRun
        ? { counted: { request: { ...request, object: null }, reason } }
        : {}),
      ...(reason === undefined ? {} : { logged: { level: 'info', message } }),
    };
  } catch (error) {
    const message = `validation failed: ${error instanceof Error ? error.message : String(error)}`;
    const text = reviewText(request, { allowed: false, message: 'internal error while validating' });
    return { text, logged: { level: 'error', message } };
  }
}

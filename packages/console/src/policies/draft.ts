// What the policies page begins with, in the memory of the tab: another page sets it before it links here.

import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'

export interface Draft {
  readonly object: string
  readonly policies: string
  readonly operation: Operation
}

let draft: Draft = { object: '', policies: '', operation: 'CREATE' }

export const currentDraft = (): Draft => draft

export function keepDraft(changed: Partial<Draft>): void {
  draft = { ...draft, ...changed }
}

/** The message of a request that an admission policy denied. */
export const isPolicyDenial = (message: string): boolean => /\bValidatingAdmissionPolicy '[^']+'.* denied request: /.test(message)

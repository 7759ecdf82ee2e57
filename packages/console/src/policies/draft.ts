// What the policies page begins with, in the memory of the tab: another page sets it before it links here.

import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import type { Session } from '../session/session.js'

export interface Draft {
  readonly object: string
  readonly policies: string
  readonly operation: Operation
}

const emptyDraft: Draft = { object: '', policies: '', operation: 'CREATE' }
let lastDraft: { readonly session: Session; readonly draft: Draft } | undefined

/** Empty for another user than that of the last draft. */
export const currentDraft = (session: Session): Draft => (lastDraft?.session.hasSameUser(session) ? lastDraft.draft : emptyDraft)

export function keepDraft(session: Session, changed: Partial<Draft>): void {
  lastDraft = { session, draft: { ...currentDraft(session), ...changed } }
}

// The last edit that was not sent: kept while its user looks at other pages, or signs in again after the token expired.

import type { DynamicObject } from '@cluster-apiserver/client/browser.js'
import type { Session } from '../session/session.js'

interface Draft {
  readonly session: Session
  readonly object: DynamicObject
  /** The object without the edit. */
  readonly base: DynamicObject
  readonly text: string
}

let lastDraft: Draft | undefined

const isOf = (object: DynamicObject): boolean =>
  object.metadata?.uid !== undefined && lastDraft?.object.metadata?.uid === object.metadata.uid

/** Drops the edit of another user. */
export function draftOf(session: Session, object: DynamicObject): Draft | undefined {
  if (!lastDraft?.session.hasSameUser(session)) lastDraft = undefined
  return isOf(object) ? lastDraft : undefined
}

export function keepDraft(draft: Draft): void {
  lastDraft = draft
}

export function dropDraft(object: DynamicObject): void {
  if (isOf(object)) lastDraft = undefined
}

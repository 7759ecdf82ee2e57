// One object that a fresh server makes, and where it belongs.

import type { GroupName } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'

export interface Wanted<T extends ApiObject = ApiObject> {
  readonly group: GroupName
  readonly version: string
  readonly resource: string
  readonly namespace?: string
  /** As a client would send it. */
  readonly object: T
  /** Objects of a kind that say the same are fields of the same owner: worked out once for all with this word. */
  readonly shape?: string
  /** Who is named as the owner of its fields; the server itself if left out. */
  readonly fieldManager?: string
  /** What a loop would have said about it by now, and the name under which it says so. */
  readonly status?: { readonly value: object; readonly fieldManager: string; readonly fields: object }
  /** Whether what is stored can only be deleted and made anew, because what it says cannot be changed. */
  readonly isOutlived?: (stored: T, wanted: T) => boolean
  /** The object as it should be from here on, given what is stored; the same one where nothing is to be done. Left out: never changed. */
  readonly reconcile?: (stored: T, wanted: T) => T
}

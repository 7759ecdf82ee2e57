// What the tabs of an object's page share: the object, as it is now, and the versions that this page saw.

import type { DynamicObject, ServedResource } from '@cluster-apiserver/client/browser.js'
import type { FunctionComponent } from 'preact'

export interface ObjectVersion {
  readonly atMs: number
  readonly resourceVersion: string
  readonly isDeleted: boolean
  /** Lines of the YAML, without managedFields and resourceVersion. */
  readonly text: readonly string[]
}

export interface ObjectContext {
  readonly resource: ServedResource
  readonly namespace: string | undefined
  readonly name: string
  readonly object: DynamicObject
  readonly versions: readonly ObjectVersion[]
  readonly isDeleted: boolean
}

export interface ObjectTab {
  readonly id: string
  readonly title: string
  readonly isOffered?: (resource: ServedResource) => boolean
  readonly Tab: FunctionComponent<ObjectContext>
}

/** Without managedFields, which the fields of the YAML show as notes. */
export function withoutManagedFields(object: DynamicObject): DynamicObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {}
  return { ...object, metadata }
}

export function withoutVersion(object: DynamicObject): DynamicObject {
  const { resourceVersion: _, ...metadata } = withoutManagedFields(object).metadata ?? {}
  return { ...object, metadata }
}

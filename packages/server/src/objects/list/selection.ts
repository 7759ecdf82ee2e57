// Label and field selectors of a list or watch, evaluated on the index in the entry header.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { CompiledFieldSelector } from '@cluster-apiserver/api/api/selectors/field-selector.js'
import type { CompiledLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { StoredObject } from '../entry/stored-object.js'
import { partsOf } from '../object-keys.js'
import type { PositiveRequirement } from '../watch-cache/label-index.js'

export interface Selection {
  readonly labels: CompiledLabelSelector | undefined
  readonly fields: CompiledFieldSelector | undefined
}

export const everything: Selection = { labels: undefined, fields: undefined }

export const selectionKey = ({ labels, fields }: Selection): string =>
  [
    labels === undefined || labels.isEverything ? '' : `labels ${labels.text}`,
    fields?.isEverything === false ? `fields ${fields.text}` : '',
  ]
    .join('\n')
    .trim()

export type Matcher = (object: StoredObject) => boolean

export function matcherOf(resource: Resource, selection: Selection): Matcher | undefined {
  const { labels, fields } = selection
  if (labels === undefined && fields === undefined) return undefined
  return (object) => {
    if (labels !== undefined && !labels.matches(object.labels())) return false
    return fields === undefined || fields.matches((path) => fieldOf(resource, object, path))
  }
}

/** The value of a selectable field; empty if the object lacks it. */
export function fieldOf(resource: Resource, object: StoredObject, path: string): string {
  if (path === 'metadata.name') return partsOf(resource, object.key).name
  if (path === 'metadata.namespace') return partsOf(resource, object.key).namespace
  return object.fields(resource)?.[path] ?? ''
}

export function positiveRequirements(selection: Selection): readonly PositiveRequirement[] {
  return (selection.labels?.requirements ?? []).flatMap(({ key, operator, values }): PositiveRequirement[] => {
    if (operator === 'exists') return [{ key, values: undefined }]
    return operator === '=' || operator === '==' || operator === 'in' ? [{ key, values }] : []
  })
}

/** True if the label index alone decides which objects are selected. */
export const isDecidedByIndex = (selection: Selection): boolean =>
  selection.fields === undefined && selection.labels?.requirements.length === 1 && positiveRequirements(selection).length === 1

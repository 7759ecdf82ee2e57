// Which objects of a collection a reader asked for: compiled selectors, run on the index beside the bytes.

import type { Resource } from '../api/catalog.js'
import type { CompiledFieldSelector } from '../api/field-selector.js'
import type { CompiledLabelSelector } from '../api/label-selector.js'
import { partsOf } from './keys.js'
import type { PositiveRequirement } from './label-index.js'
import type { StoredObject } from './stored-object.js'

export interface Selection {
  readonly labels: CompiledLabelSelector | undefined
  readonly fields: CompiledFieldSelector | undefined
}

export const everything: Selection = { labels: undefined, fields: undefined }

/** The same text for all selections that pick by the same words; that of everything is empty. */
export const selectionKey = ({ labels, fields }: Selection): string =>
  [
    labels === undefined || labels.isEverything ? '' : `labels ${labels.text}`,
    fields?.isEverything === false ? `fields ${fields.text}` : '',
  ]
    .join('\n')
    .trim()

/** A test of one object; undefined when every object passes. */
export type Matcher = (object: StoredObject) => boolean

export function matcherOf(resource: Resource, selection: Selection): Matcher | undefined {
  const { labels, fields } = selection
  if (labels === undefined && fields === undefined) return undefined
  return (object) => {
    if (labels !== undefined && !labels.matches(object.labels())) return false
    return fields === undefined || fields.matches((path) => fieldOf(resource, object, path))
  }
}

/** As selectors see it: what an object does not have is the empty text. */
export function fieldOf(resource: Resource, object: StoredObject, path: string): string {
  if (path === 'metadata.name') return partsOf(resource, object.key).name
  if (path === 'metadata.namespace') return partsOf(resource, object.key).namespace
  return object.fields(resource)?.[path] ?? ''
}

/** The conditions of a selector that an index of labels can answer. */
export function positiveRequirements(selection: Selection): readonly PositiveRequirement[] {
  return (selection.labels?.requirements ?? []).flatMap((requirement): PositiveRequirement[] => {
    switch (requirement.operator) {
      case '=':
      case '==':
      case 'in':
        return [{ key: requirement.key, values: requirement.values }]
      case 'exists':
        return [{ key: requirement.key, values: undefined }]
      default:
        return []
    }
  })
}

/** Whether the index of labels alone tells which objects are selected, so that none has to be looked at. */
export const isAnsweredByIndex = (selection: Selection): boolean =>
  selection.fields === undefined && selection.labels?.requirements.length === 1 && positiveRequirements(selection).length === 1

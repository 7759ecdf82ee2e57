// What operations on one kind have in common, and the three that objects share with the subresources that show a part of them.

import type { Resource } from '../../api/catalog.js'
import type { Verb } from '../../api/definition.js'
import * as meta from '../../api/meta.schema.js'
import type { StructNode } from '../../schema/node.js'
import { groupStem, type OperationName, operationId, versionTag } from './operation-ids.js'
import { nameInPath, namespaceInPath } from './parameters.js'
import { isCustom, type Publisher } from './publisher.js'
import type { Method, Operation, Parameter } from './route.js'

/** A resource whose paths are being written. */
export interface Subject {
  readonly publisher: Publisher
  readonly resource: Resource
  /** `/api/v1` or `/apis/apps/v1`. */
  readonly root: string
  /** The document of version 3; undefined where there is none. */
  readonly document: string | undefined
}

export interface OperationDraft extends OperationName {
  readonly method: Method
  readonly action: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly answers: Operation['answers']
  readonly body?: Operation['body']
  readonly produces?: readonly string[]
}

/** Fills in what all operations on one kind have in common. */
export function operation({ publisher, resource }: Subject, draft: OperationDraft): Operation {
  const { group, version, kind } = resource
  return {
    method: draft.method,
    id: operationId(resource, draft),
    tag: versionTag(groupStem(resource), version),
    description: draft.description,
    action: draft.action,
    kind: { group, version, kind },
    parameters: [...(draft.namespaced ? [namespaceInPath] : []), ...draft.parameters],
    ...(draft.body && { body: draft.body }),
    ...(isCustom(resource) ? { consumes: publisher.mediaTypesOf(resource).object } : {}),
    answers: draft.answers,
    produces: draft.produces ?? publisher.mediaTypesOf(resource).object,
  }
}

export interface ReadAndWrite {
  readonly verbs: readonly Verb[]
  readonly schema: StructNode
  /** The subresource; empty for the object itself. */
  readonly what: string
  readonly suffix?: string
}

/** What objects have in common with subresources that show a part of them: reading, replacing, patching. */
export function readAndWrite(subject: Subject, { verbs, schema, what, suffix = '' }: ReadAndWrite): readonly Operation[] {
  const { publisher, resource } = subject
  const { parameters } = publisher
  const types = publisher.mediaTypesOf(resource)
  const target = `${what === '' ? '' : `the ${what} of `}an object of kind ${resource.kind}`
  const common = { namespaced: resource.namespaced, suffix }
  const reading: OperationDraft = {
    ...common,
    method: 'get',
    action: 'get',
    verb: 'read',
    description: `Reads ${target}.`,
    parameters: [nameInPath, ...(isCustom(resource) ? parameters.getVersion : parameters.get)],
    answers: { 200: schema },
  }
  const replacing: OperationDraft = {
    ...common,
    method: 'put',
    action: 'put',
    verb: 'replace',
    description: `Replaces ${target}.`,
    parameters: [nameInPath, ...parameters.put],
    body: { node: schema, mediaTypes: types.body, required: true },
    answers: { 200: schema, 201: schema },
  }
  const patching: OperationDraft = {
    ...common,
    method: 'patch',
    action: 'patch',
    verb: 'patch',
    description: `Changes parts of ${target}.`,
    parameters: [nameInPath, ...(isCustom(resource) ? parameters.put : parameters.patch)],
    body: { node: meta.patch, mediaTypes: types.patch, required: true },
    answers: isCustom(resource) ? { 200: schema } : { 200: schema, 201: schema },
  }
  const drafts: readonly (readonly [Verb, OperationDraft])[] = [
    ['get', reading],
    ['update', replacing],
    ['patch', patching],
  ]
  return drafts.flatMap(([verb, draft]) => (verbs.includes(verb) ? [operation(subject, draft)] : []))
}

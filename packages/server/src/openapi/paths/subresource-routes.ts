// The paths below an object: parts of it, views of another kind, actions, connections and logs.

import type { SubresourceDefinition, Verb } from '../../api/definition.js'
import type { GroupName } from '../../api/identity.js'
import * as s from '../../schema/node.js'
import type { PublishedKind } from '../../schema/openapi.js'
import { capital } from './operation-ids.js'
import { operation, readAndWrite, type Subject } from './operations.js'
import { nameInPath, pathInPath, queryParameters } from './parameters.js'
import type { Method, Operation, Route } from './route.js'

export function subresourceRoutes(subject: Subject, objectPath: string): readonly Route[] {
  return (subject.resource.definition.subresources ?? []).flatMap((subresource) => {
    const path = `${objectPath}/${subresource.name}`
    const { document } = subject
    if (!isConnection(subresource)) return [{ path, document, operations: operationsOf(subject, subresource) }]
    const connections = [{ path, document, operations: connect(subject, subresource, '') }]
    return passesOn(subresource)
      ? [...connections, { path: `${path}/{path}`, document, operations: connect(subject, subresource, 'WithPath') }]
      : connections
  })
}

/** A connection names its options as its kind; logs have options, and are still a part of the object. */
const isConnection = ({ body, query }: SubresourceDefinition): boolean => query !== undefined && body?.kind === query.name

/** Whether whatever is asked of it is asked of something behind it: such a connection takes a path and every method. */
const passesOn = ({ query }: SubresourceDefinition): boolean => query !== undefined && 'path' in query.fields

function operationsOf(subject: Subject, subresource: SubresourceDefinition): readonly Operation[] {
  const { publisher, resource } = subject
  const { name, verbs, view, body, query } = subresource
  if (query !== undefined) return [log(subject, name, query)]
  if (body !== undefined) return verbs.includes('create') ? [action(subject, subresource)] : []
  const common = { verbs, what: name, suffix: capital(name) }
  const operations = readAndWrite(subject, { ...common, schema: view?.schema ?? publisher.schemaOf(resource) })
  return view === undefined ? operations : operations.map((one) => ({ ...one, kind: kindOf(subject, view) }))
}

interface Named {
  readonly kind: string
  readonly group?: GroupName
  readonly version?: string
}

/** The kind that a subresource speaks of: of the resource's own group where it names none. */
function kindOf({ publisher, resource }: Subject, { kind, group, version }: Named): PublishedKind {
  return {
    group: group === undefined ? resource.group : publisher.identity.group(group),
    version: version ?? resource.version,
    kind,
  }
}

/** What is sent says what is wanted, and comes back with what was done. */
function action(subject: Subject, { name, body }: SubresourceDefinition): Operation {
  const { publisher, resource } = subject
  const node = body?.schema ?? s.any('raw')
  const made = operation(subject, {
    method: 'post',
    action: 'post',
    verb: 'create',
    namespaced: resource.namespaced,
    suffix: capital(name),
    description: `Asks for the ${name} of an object of kind ${resource.kind}.`,
    parameters: [nameInPath, ...publisher.parameters.post],
    body: { node, mediaTypes: publisher.mediaTypesOf(resource).body, required: true },
    answers: { 200: node, 201: node, 202: node },
  })
  return body === undefined ? made : { ...made, kind: kindOf(subject, body) }
}

function log(subject: Subject, name: string, query: s.StructNode): Operation {
  const { publisher, resource } = subject
  return operation(subject, {
    method: 'get',
    action: 'get',
    verb: 'read',
    namespaced: resource.namespaced,
    suffix: capital(name),
    description: `Reads the ${name} of an object of kind ${resource.kind}.`,
    parameters: [nameInPath, ...publisher.parameters.get, ...queryParameters(query, publisher.describe)],
    answers: { 200: s.string },
    produces: publisher.mediaTypesOf(resource).text,
  })
}

const methods: readonly (readonly [Verb, Method])[] = [
  ['get', 'get'],
  ['update', 'put'],
  ['create', 'post'],
  ['delete', 'delete'],
  ['patch', 'patch'],
]

function connect(subject: Subject, subresource: SubresourceDefinition, suffix: '' | 'WithPath'): readonly Operation[] {
  const { publisher, resource } = subject
  const { name, verbs, body, query } = subresource
  const asked = methods.flatMap(([verb, method]) => (verbs.includes(verb) ? [method] : []))
  const parameters = [nameInPath, ...(suffix === '' ? [] : [pathInPath]), ...(query ? queryParameters(query, publisher.describe) : [])]
  return [...asked, ...(passesOn(subresource) ? (['options', 'head'] as const) : [])].map((method) => ({
    ...operation(subject, {
      method,
      action: 'connect',
      verb: 'connect',
      qualifier: capital(method),
      namespaced: resource.namespaced,
      suffix: `${capital(name)}${suffix}`,
      description: `Connects ${method.toUpperCase()} requests to the ${name} of an object of kind ${resource.kind}.`,
      parameters,
      answers: { 200: s.string },
      produces: ['*/*'],
    }),
    ...(body && { kind: kindOf(subject, body) }),
  }))
}

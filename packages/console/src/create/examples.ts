// First objects of a kind to begin with: the required fields of its schema, and written examples where those alone say little.

import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { apiVersionOf, type DynamicObject, type ServedResource } from '@cluster-apiserver/client/browser.js'
import type { KindSchema } from '../editor/kind-schema.js'
import { type Body, type WrittenExample, writtenExamples } from './written-examples.js'

export interface Example {
  readonly title: string
  readonly object: DynamicObject
}

/** Written examples first; the last one has the required fields of the schema. */
export function examplesOf(resource: ServedResource, namespace: string, schema: KindSchema | undefined): readonly Example[] {
  const { group, kind, version } = resource
  const isOfKind = (example: WrittenExample): boolean =>
    example.kind === kind &&
    (example.version ?? version) === version &&
    identityNames.some((name) => identityOf(name).group(example.group) === group)
  const written = writtenExamples.filter(isOfKind).map(({ title, body }) => ({ title, object: objectOf(resource, namespace, body(group)) }))
  return [...written, { title: 'Required fields', object: objectOf(resource, namespace, requiredBody(schema)) }]
}

function objectOf({ group, version, kind, namespaced }: ServedResource, namespace: string, body: Body): DynamicObject {
  const head = { name: 'example', ...(namespaced ? { namespace: namespace === '' ? 'default' : namespace } : {}) }
  return {
    apiVersion: apiVersionOf(group, version),
    kind,
    ...body,
    metadata: { ...head, ...(body['metadata'] as object | undefined) },
  } as DynamicObject
}

function requiredBody(schema: KindSchema | undefined): Body {
  if (schema === undefined) return {}
  const required = schema.skeleton()
  const hasSpec = schema.membersAt([]).some(({ name }) => name === 'spec')
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...body } = (typeof required === 'object' ? required : {}) as Body
  return withTexts({ ...body, ...(hasSpec ? { spec: schema.skeleton(['spec']) } : {}) }) as Body
}

/** With a name in place of empty texts, which most kinds refuse. */
function withTexts(value: unknown): unknown {
  if (value === '') return 'example'
  if (Array.isArray(value)) return value.map(withTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withTexts(member)]))
}

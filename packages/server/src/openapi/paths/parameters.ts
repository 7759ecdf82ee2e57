// The parameters of requests: those of a query are the fields of the options that it is read into.

import * as meta from '../../api/meta.schema.js'
import { resolve, type SchemaNode, type StructNode } from '../../schema/node.js'
import type { Publication } from '../../schema/openapi.js'
import type { Parameter } from './route.js'

type Describe = Publication['describe']

const inPath = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description })

export const nameInPath = inPath('name', 'The name of the object.')
export const namespaceInPath = inPath('namespace', 'The namespace that the object lies in, or the objects do.')
export const pathInPath = inPath('path', 'The rest of the path, which is passed on.')
export const logInPath = inPath('logpath', 'The path of a log file.')

const pretty: Parameter = { name: 'pretty', in: 'query', type: 'string', description: "'true' indents the answer, for people to read." }

/** Texts, numbers and switches; what has an inside cannot stand in a query. */
function typeInQuery(node: SchemaNode): Parameter['type'] | undefined {
  const value = resolve(node)
  if (value.type === 'list') return typeInQuery(value.item)
  return value.type === 'string' || value.type === 'boolean' || value.type === 'integer' ? value.type : undefined
}

export function queryParameters(options: StructNode, describe: Describe): readonly Parameter[] {
  return Object.entries(options.fields).flatMap(([name, { node }]): Parameter[] => {
    const type = typeInQuery(node)
    const description = describe(options.name, name)
    return type === undefined ? [] : [{ name, in: 'query', type, ...(description !== undefined && { description }) }]
  })
}

export interface ActionParameters {
  readonly get: readonly Parameter[]
  /** Of custom kinds: from which version on. */
  readonly getVersion: readonly Parameter[]
  readonly list: readonly Parameter[]
  readonly post: readonly Parameter[]
  readonly put: readonly Parameter[]
  readonly patch: readonly Parameter[]
  readonly delete: readonly Parameter[]
  readonly deletecollection: readonly Parameter[]
}

/** Nothing is watched while it is deleted. */
const onlyForWatches = new Set(['watch', 'allowWatchBookmarks'])

export function actionParameters(describe: Describe): ActionParameters {
  const list = queryParameters(meta.listOptions, describe)
  const deleting = queryParameters(meta.deleteOptions, describe)
  return {
    get: [pretty],
    getVersion: [pretty, ...list.filter(({ name }) => name === 'resourceVersion')],
    list: [pretty, ...list],
    post: [pretty, ...queryParameters(meta.createOptions, describe)],
    put: [pretty, ...queryParameters(meta.updateOptions, describe)],
    patch: [pretty, ...queryParameters(meta.patchOptions, describe)],
    delete: [pretty, ...deleting],
    deletecollection: [pretty, ...deleting, ...list.filter(({ name }) => !onlyForWatches.has(name))],
  }
}

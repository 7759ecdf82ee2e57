// Path and query parameters of operations. Query parameters are the fields of the options types, such as ListOptions.

import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { resolve, type SchemaNode, type StructNode } from '@cluster-apiserver/api/schema/node.js'
import type { Publication } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import type { Parameter } from './route.js'

type Describe = Publication['describe']

const inPath = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description })

export const nameInPath = inPath('name', 'The name of the object.')
export const namespaceInPath = inPath('namespace', 'The namespace of the object or objects.')
export const pathInPath = inPath('path', 'The rest of the path, which is forwarded.')
export const logInPath = inPath('logpath', 'The path of a log file.')

const pretty: Parameter = { name: 'pretty', in: 'query', type: 'string', description: "'true' returns indented JSON." }

/** Returns undefined for objects, which cannot be query parameters. */
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

/** Query parameters per action. */
export interface ActionParameters {
  readonly get: readonly Parameter[]
  /** Only custom resources publish resourceVersion for GET. */
  readonly getWithResourceVersion: readonly Parameter[]
  readonly list: readonly Parameter[]
  readonly post: readonly Parameter[]
  readonly put: readonly Parameter[]
  readonly patch: readonly Parameter[]
  readonly delete: readonly Parameter[]
  readonly deletecollection: readonly Parameter[]
}

/** List options that do not apply to deletecollection. */
const watchOnly = new Set(['watch', 'allowWatchBookmarks'])

export function actionParameters(describe: Describe): ActionParameters {
  const list = queryParameters(meta.listOptions, describe)
  const deleting = queryParameters(meta.deleteOptions, describe)
  return {
    get: [pretty],
    getWithResourceVersion: [pretty, ...list.filter(({ name }) => name === 'resourceVersion')],
    list: [pretty, ...list],
    post: [pretty, ...queryParameters(meta.createOptions, describe)],
    put: [pretty, ...queryParameters(meta.updateOptions, describe)],
    patch: [pretty, ...queryParameters(meta.patchOptions, describe)],
    delete: [pretty, ...deleting],
    deletecollection: [pretty, ...deleting, ...list.filter(({ name }) => !watchOnly.has(name))],
  }
}

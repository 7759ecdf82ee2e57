// Each flow schema says in a condition whether the priority level that it names exists.

import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { partsOf } from '../objects/keys.js'
import type { FlowSchema } from '../resources/flowcontrol-apiserver/v1beta3.schema.js'
import { timeOf } from '../schema/scalars.js'
import { patch } from '../verbs/patch.js'
import { consumer, danglingCondition } from './bootstrap/flow-control.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import { pagesOf } from './kit/pages.js'
import type { Loop } from './leader-election.js'
import { ownCall } from './own-call.js'

/** A key beside those of schemas: a level came or went, so all schemas are looked at. */
const allSchemas = '*'

export const flowSchemaStatus = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'priority_and_fairness_config_queue',
    sources: () => {
      const { schemas, levels } = kindsOf(parts)
      if (schemas === undefined || levels === undefined) return []
      return [
        { resource: schemas, namespace: '', keyOf: ({ key }, seen) => (seen === 'DELETED' ? undefined : partsOf(schemas, key).name) },
        { resource: levels, namespace: '', onlyChanges: true, keyOf: (_, seen) => (seen === 'MODIFIED' ? undefined : allSchemas) },
      ]
    },
    work: async (key, { pieces, signal }) => {
      const { schemas } = kindsOf(parts)
      if (schemas === undefined) return undefined
      if (key !== allSchemas) await describe(parts, key)
      else {
        for await (const page of pagesOf(parts.engine.store, { resource: schemas, namespace: '' }, pieces)) {
          for (const object of page) if (!signal.aborted) await describe(parts, partsOf(schemas, object.key).name)
        }
      }
      return undefined
    },
  })

interface Kinds {
  readonly schemas: Resource | undefined
  readonly levels: Resource | undefined
}

function kindsOf({ engine, catalogs }: LoopParts): Kinds {
  const group = engine.identity.group({ stem: 'flowcontrol.apiserver' })
  const find = (name: string): Resource | undefined => catalogs.current.find(group, 'v1beta3', name)
  return { schemas: find('flowschemas'), levels: find('prioritylevelconfigurations') }
}

async function describe(parts: LoopParts, name: string): Promise<void> {
  const { engine } = parts
  const { schemas, levels } = kindsOf(parts)
  if (schemas === undefined || levels === undefined) return
  const schema = engine.store.read({ resource: schemas, namespace: '', name })?.decode(schemas) as FlowSchema | undefined
  if (schema === undefined) return
  const level = schema.spec?.priorityLevelConfiguration?.name ?? ''
  const exists = engine.store.read({ resource: levels, namespace: '', name: level }) !== undefined
  const before = schema.status?.conditions?.find(({ type }) => type === 'Dangling')
  const wanted = danglingCondition(level, exists)
  if (before?.status === wanted.status && before.reason === wanted.reason && before.message === wanted.message) return
  const call = ownCall(engine, { resource: schemas, name, subresource: 'status', options: { fieldManager: consumer, force: true } })
  const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : timeOf(engine.clock.now())
  const status = { conditions: [{ ...wanted, lastTransitionTime }] }
  const configuration = { apiVersion: schemas.apiVersion, kind: schemas.kind, metadata: { name }, status } as ApiObject
  try {
    await patch(engine, call, { type: 'apply', patch: configuration, duplicates: [] })
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}

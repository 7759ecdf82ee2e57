// Sets the Dangling condition of FlowSchemas: whether their priority level exists.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { FlowSchema } from '@cluster-apiserver/api/resources/flowcontrol-apiserver/v1beta3.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { partsOf } from '../objects/object-keys.js'
import { patch } from '../verbs/patch.js'
import { danglingCondition, statusFieldManager } from './bootstrap/flow-control.js'
import { type ControllerParts, KeyedController } from './framework/controller.js'
import { ignoreErrors, internalCall, notFoundCodes } from './framework/internal-call.js'
import { pagesOf } from './framework/list-pages.js'
import type { Controller } from './leader-election/leader-election.js'

const allSchemas = '*'

export const flowSchemaStatus = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
    name: 'priority_and_fairness_config_queue',
    sources: () => {
      const { schemas, levels } = resourcesOf(parts)
      if (schemas === undefined || levels === undefined) return []
      return [
        {
          resource: schemas,
          namespace: '',
          keyOf: ({ key }, eventType) => (eventType === 'DELETED' ? undefined : partsOf(schemas, key).name),
        },
        {
          resource: levels,
          namespace: '',
          onlyChanges: true,
          keyOf: (_, eventType) => (eventType === 'MODIFIED' ? undefined : allSchemas),
        },
      ]
    },
    work: async (key, { budget, signal }) => {
      const { schemas } = resourcesOf(parts)
      if (schemas === undefined) return undefined
      if (key !== allSchemas) await writeCondition(parts, key)
      else {
        for await (const page of pagesOf(parts.engine.store, { resource: schemas, namespace: '' }, budget)) {
          for (const object of page) if (!signal.aborted) await writeCondition(parts, partsOf(schemas, object.key).name)
        }
      }
      return undefined
    },
  })

interface Resources {
  readonly schemas: Resource | undefined
  readonly levels: Resource | undefined
}

function resourcesOf({ engine, catalogs }: ControllerParts): Resources {
  const group = engine.identity.group({ stem: 'flowcontrol.apiserver' })
  const find = (name: string): Resource | undefined => catalogs.current.find(group, 'v1beta3', name)
  return { schemas: find('flowschemas'), levels: find('prioritylevelconfigurations') }
}

async function writeCondition(parts: ControllerParts, name: string): Promise<void> {
  const { engine } = parts
  const { schemas, levels } = resourcesOf(parts)
  if (schemas === undefined || levels === undefined) return
  const schema = engine.store.read({ resource: schemas, namespace: '', name })?.decode(schemas) as FlowSchema | undefined
  if (schema === undefined) return
  const level = schema.spec?.priorityLevelConfiguration?.name ?? ''
  const exists = engine.store.read({ resource: levels, namespace: '', name: level }) !== undefined
  const before = schema.status?.conditions?.find(({ type }) => type === 'Dangling')
  const wanted = danglingCondition(level, exists)
  if (before?.status === wanted.status && before.reason === wanted.reason && before.message === wanted.message) return
  const call = internalCall(engine, {
    resource: schemas,
    name,
    subresource: 'status',
    options: { fieldManager: statusFieldManager, force: true },
  })
  const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : timeOf(engine.clock.now())
  const status = { conditions: [{ ...wanted, lastTransitionTime }] }
  const configuration = { apiVersion: schemas.apiVersion, kind: schemas.kind, metadata: { name }, status } as ApiObject
  await ignoreErrors(notFoundCodes, patch(engine, call, { type: 'apply', patch: configuration, duplicates: [] }))
}

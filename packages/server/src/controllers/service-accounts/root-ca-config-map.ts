// The root CA ConfigMap of a namespace: repaired after changes, and created by its first GET, not with the namespace. Without
// kube-controller-manager, lists of kube-apiserver do not contain this ConfigMap.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { partsOf } from '../../objects/object-keys.js'
import { create } from '../../verbs/create.js'
import type { Engine } from '../../verbs/engine.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import { internalCall, internalDelete, internalUpdate, isNamespaceTerminating } from '../framework/internal-call.js'
import type { Controller } from '../leader-election/leader-election.js'

export interface RootCa {
  pem(): string
  /** Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void
}

const repairDelayMs = 1000

const description =
  'Certificates that vouch for the API server at its addresses inside the cluster, such as that of its service. For nothing else.'

export function publishRootCa(engine: Engine, catalogs: CatalogSource, rootCa: RootCa): () => void {
  const name = engine.identity.prefixed('root-ca.crt')
  return (
    engine.onDemand?.add({ collection: 'configmaps', name }, async (namespace) => {
      const resource = catalogs.current.find('', 'v1', 'configmaps')
      if (resource === undefined) return
      try {
        await ensureConfigMap(engine, { resource, namespace, name }, { 'ca.crt': rootCa.pem() })
      } catch (thrown) {
        // A concurrent GET created the ConfigMap, or admission rejected it: then this GET returns 404.
        if (!(thrown instanceof ApiError) || ![403, 409].includes(thrown.status.code)) throw thrown
      }
    }) ?? (() => undefined)
  )
}

export const rootCaConfigMaps =
  (rootCa: RootCa) =>
  (parts: ControllerParts): Controller => {
    const name = parts.engine.identity.prefixed('root-ca.crt')
    return new KeyedController(parts, {
      name: 'root_ca_cert_publisher',
      concurrency: 4,
      sources: (catalog) => {
        const configMaps = catalog.find('', 'v1', 'configmaps')
        if (configMaps === undefined) return []
        return [
          {
            resource: configMaps,
            namespace: '',
            matches: ({ key }) => key.endsWith(`/${name}`),
            keyOf: ({ key }, eventType) => {
              const { namespace } = partsOf(configMaps, key)
              if (eventType === 'DELETED') return undefined
              // Delayed, so that two controllers that disagree do not write continuously.
              return eventType === 'LISTED' ? namespace : { key: namespace, afterMs: repairDelayMs }
            },
          },
        ]
      },
      onExternalChange: (resync) => rootCa.onChange(resync),
      work: async (namespace) => {
        const resource = parts.catalogs.current.find('', 'v1', 'configmaps')
        if (resource === undefined || parts.engine.store.read({ resource, namespace, name }) === undefined) return undefined
        await ensureConfigMap(parts.engine, { resource, namespace, name }, { 'ca.crt': rootCa.pem() })
        return undefined
      },
    })
  }

interface Address {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
}

async function ensureConfigMap(engine: Engine, address: Address, data: { readonly [key: string]: string }): Promise<void> {
  const stored = engine.store.read(address)
  const map = stored?.decode(address.resource)
  if (map !== undefined && sameValue(members(map)['data'], data) && members(map)['binaryData'] === undefined) return
  try {
    if (map === undefined) {
      const annotations = { [engine.identity.label('description')]: description }
      await create(engine, internalCall(engine, address), { object: { metadata: { name: address.name, annotations }, data } as ApiObject })
    } else if (members(map)['immutable'] === true) {
      // An immutable ConfigMap cannot be updated: it is deleted, and the next GET creates a new one.
      await internalDelete(engine, { ...address, options: { preconditions: { uid: map.metadata?.uid ?? '' } } })
    } else {
      await internalUpdate(engine, address, (object) => {
        const { binaryData: _, ...rest } = members(object)
        return { ...rest, data } as ApiObject
      })
    }
  } catch (thrown) {
    if (isNamespaceTerminating(thrown)) return
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}

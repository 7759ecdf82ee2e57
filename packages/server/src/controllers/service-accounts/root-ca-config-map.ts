// Every namespace has a config map with the certificates by which programs in the cluster know the API's own: made when it is first asked for by
// name, as programs and their tests do, and kept as it shall be. Lists of all config maps do not show it before that, as in the recordings of the
// reference, and namespaces in which nobody looks for it cost nothing.

import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { CatalogSource } from '../api/catalog-source.js'
import { type ApiObject, members } from '../api/object.js'
import { sameValue } from '../api/validation/same-value.js'
import { partsOf } from '../objects/keys.js'
import { leanObject } from '../objects/lean-object.js'
import { create } from '../verbs/create.js'
import type { Engine } from '../verbs/engine.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import { isNamespaceGoing } from './kit/namespace-going.js'
import type { Loop } from './leader-election.js'
import { ownCall } from './own-call.js'
import { removeOwn, updateOwn } from './own-write.js'

export interface RootCa {
  /** As it is now, in PEM form. */
  pem(): string
  /** Tells of another one until the function that it returns is called. */
  onChange(listener: () => void): () => void
}

/** How long after somebody changed it the map is mended. */
const mendMs = 1000

const description =
  'Certificates that vouch for the API server at its addresses inside the cluster, such as that of its service. For nothing else.'

/** Makes the map of a namespace for whoever asks for it; gives what ends that. On every server, whoever leads. */
export function publishRootCa(engine: Engine, catalogs: CatalogSource, rootCa: RootCa): () => void {
  const name = engine.identity.prefixed('root-ca.crt')
  return (
    engine.onDemand?.add({ collection: 'configmaps', name }, async (namespace) => {
      const resource = catalogs.current.find('', 'v1', 'configmaps')
      if (resource === undefined) return
      try {
        await keepTrue(engine, { resource, namespace, name }, { 'ca.crt': rootCa.pem() })
      } catch (thrown) {
        // Somebody else who asked was quicker, or it may not be made: then it is missing.
        if (!(thrown instanceof ApiError) || ![403, 409].includes(thrown.status.code)) throw thrown
      }
    }) ?? (() => undefined)
  )
}

/** Keeps the maps that are there as they shall be. */
export const rootCaMaps =
  (rootCa: RootCa) =>
  (parts: LoopParts): Loop => {
    const name = parts.engine.identity.prefixed('root-ca.crt')
    return new KeyedLoop(parts, {
      name: 'root_ca_cert_publisher',
      concurrency: 4,
      sources: (catalog) => {
        const maps = catalog.find('', 'v1', 'configmaps')
        if (maps === undefined) return []
        return [
          {
            resource: maps,
            namespace: '',
            matches: ({ key }) => key.endsWith(`/${name}`),
            keyOf: ({ key }, seen) => {
              const { namespace } = partsOf(maps, key)
              if (seen === 'DELETED') return undefined
              // Whoever else keeps it, and otherwise, shall not make both of them write without a pause.
              return seen === 'LISTED' ? namespace : { key: namespace, afterMs: mendMs }
            },
          },
        ]
      },
      onOutsideChange: (lookAgain) => rootCa.onChange(lookAgain),
      work: async (namespace) => {
        const resource = parts.catalogs.current.find('', 'v1', 'configmaps')
        if (resource === undefined || parts.engine.store.read({ resource, namespace, name }) === undefined) return undefined
        await keepTrue(parts.engine, { resource, namespace, name }, { 'ca.crt': rootCa.pem() })
        return undefined
      },
    })
  }

interface Place {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
}

async function keepTrue(engine: Engine, place: Place, data: { readonly [key: string]: string }): Promise<void> {
  const stored = engine.store.read(place)
  const map = stored && leanObject(stored, place.resource)
  if (map !== undefined && sameValue(members(map)['data'], data) && members(map)['binaryData'] === undefined) return
  try {
    if (map === undefined) {
      const annotations = { [engine.identity.label('description')]: description }
      await create(engine, ownCall(engine, place), { object: { metadata: { name: place.name, annotations }, data } as ApiObject })
    } else if (members(map)['immutable'] === true) {
      // It cannot be mended; whoever asks next gets another one.
      await removeOwn(engine, { ...place, options: { preconditions: { uid: map.metadata?.uid ?? '' } } })
    } else {
      await updateOwn(engine, place, (object) => {
        const { binaryData: _, ...rest } = members(object)
        return { ...rest, data } as ApiObject
      })
    }
  } catch (thrown) {
    // Its namespace is gone or going.
    if (isNamespaceGoing(thrown)) return
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}

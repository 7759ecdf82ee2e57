// Pods stay for a while on a node that is not ready or cannot be reached, unless they say how long themselves.

import type { Identity } from '../../api/identity.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import { type PodSpec, withSpec } from '../pods.js'

type Toleration = NonNullable<PodSpec['tolerations']>[number]

export interface TolerationSettings {
  readonly identity: Identity
  readonly notReadySeconds: number
  readonly unreachableSeconds: number
}

export function defaultTolerationSeconds({ identity, notReadySeconds, unreachableSeconds }: TolerationSettings): Plugin {
  const wanted = [
    { key: identity.label('not-ready', 'node'), tolerationSeconds: notReadySeconds },
    { key: identity.label('unreachable', 'node'), tolerationSeconds: unreachableSeconds },
  ]
  return {
    name: 'DefaultTolerationSeconds',
    collections: ['pods'],
    mutate: (request) => {
      if (!concerns(request)) return request.object
      const pod = request.object as { readonly spec?: PodSpec }
      const present = pod.spec?.tolerations ?? []
      const missing = wanted.filter(({ key }) => !present.some((toleration) => covers(toleration, key)))
      if (missing.length === 0) return request.object
      return withSpec(pod, {
        tolerations: [...present, ...missing.map((toleration) => ({ ...toleration, operator: 'Exists', effect: 'NoExecute' }))],
      })
    },
  }
}

/** Also when a pod changes: the tolerations it has been given belong to it. */
const concerns = ({ operation, resource, subresource }: AdmissionRequest): boolean =>
  resource.collection === 'pods' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')

const covers = ({ key = '', effect = '' }: Toleration, wanted: string): boolean =>
  (key === '' || key === wanted) && (effect === '' || effect === 'NoExecute')

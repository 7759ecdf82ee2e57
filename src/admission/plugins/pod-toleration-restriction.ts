// Pods get the tolerations of their namespace, and have none that it does not allow.

import { qosClassOf } from '../../resources/core/pod/qos-class.js'
import { validateTolerations } from '../../resources/core/pod-spec/tolerations.js'
import type { Toleration } from '../../resources/core/v1.schema.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { TolerationLists } from '../config/toleration-lists.js'
import type { Lookup } from '../lookup.js'
import { changedPod, refuseBy, refusePod, withSpec } from '../pods.js'
import { includesToleration, mergeTolerations } from '../tolerations.js'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }

export function podTolerationRestriction(lookup: Lookup, { defaults, allowed }: TolerationLists): Plugin {
  /** Undefined where the namespace says nothing. */
  function listOf(request: AdmissionRequest, word: string): readonly Toleration[] | undefined {
    const name = request.identity.label(word, 'scheduler.alpha')
    const text = lookup.read(namespaces, { name: request.namespace })?.metadata?.annotations?.[name]
    return text === undefined ? undefined : refuseBy(request, () => parseTolerations(text, name))
  }
  return {
    name: 'PodTolerationRestriction',
    collections: ['pods'],
    mutate: (request) => {
      const pod = changedPod(request)
      if (pod === undefined) return undefined
      const given = request.operation === 'CREATE' ? (listOf(request, 'defaultTolerations') ?? defaults) : []
      // Whoever was promised memory stays when it gets scarce.
      const isPromised = qosClassOf(pod.spec ?? {}) !== 'BestEffort'
      const pressure = { key: request.identity.label('memory-pressure', 'node'), operator: 'Exists', effect: 'NoSchedule' }
      const more = isPromised ? [...given, pressure] : given
      return more.length === 0 ? undefined : withSpec(pod, { tolerations: mergeTolerations(pod.spec?.tolerations ?? [], more) })
    },
    validate: (request) => {
      const tolerations = changedPod(request)?.spec?.tolerations ?? []
      if (tolerations.length === 0) return
      const own = listOf(request, 'tolerationsWhitelist')
      const list = own ?? allowed
      if (list.length === 0 || tolerations.every((toleration) => list.some((wider) => includesToleration(wider, toleration)))) return
      const whose = own === undefined ? 'cluster' : 'namespace'
      throw refusePod(request, `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whose} whitelist`)
    },
  }
}

function parseTolerations(text: string, annotation: string): readonly Toleration[] {
  if (text === '') return []
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`the annotation ${annotation} of the namespace is not JSON`)
  }
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && !Array.isArray(each))
  if (!isList) throw new Error(`the annotation ${annotation} of the namespace is not a list of tolerations`)
  const [problem] = validateTolerations(value as readonly Toleration[], annotation)
  if (problem !== undefined) throw new Error(`${problem.field}: ${problem.message}`)
  return value as readonly Toleration[]
}

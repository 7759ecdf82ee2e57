// When a namespace enforces more than before, whoever did that is told which pods that are there would not be let in any more.

import type { Resource } from '../../api/catalog.js'
import { inPieces } from '../../base/pieces.js'
import { compareText } from '../../base/text-order.js'
import { leanAnnotated } from '../../objects/lean-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { AdmissionRequest } from '../admission.js'
import type { PodSecuritySettings } from '../config/pod-security-settings.js'
import { evaluatePod, reasonsOf } from './evaluate.js'
import { podOf } from './pods-in.js'
import { type LevelVersion, nameOf } from './policy.js'

/** More pods and more time than these nobody waits for. */
const mostPods = 3000
const mostMs = 1000

export interface ExistingPodsParts {
  readonly store: ObjectStore
  readonly pods: Resource
  readonly settings: PodSecuritySettings
}

interface Found {
  readonly pod: string
  readonly others: number
}

export async function checkExistingPods(parts: ExistingPodsParts, request: AdmissionRequest, enforce: LevelVersion): Promise<void> {
  const namespace = request.name
  const total = parts.store.count(parts.pods, namespace)
  if (total === 0) return
  const { found, checked } = await inPieces(lookAtPods(parts, request, enforce))
  const { warn } = request.call
  if (checked < total) warn(`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`)
  if (found.size === 0) return
  warn(`existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level "${nameOf(enforce)}"`)
  const lines = Array.from(found, ([reasons, { pod, others }]) => `${pod}${othersText(others)}: ${reasons}`)
  for (const line of lines.sort(compareText)) warn(line)
}

const othersText = (others: number): string => (others === 0 ? '' : ` (and ${others} other pod${others === 1 ? '' : 's'})`)

interface Looked {
  /** By what is wrong with them. */
  readonly found: ReadonlyMap<string, Found>
  readonly checked: number
}

function* lookAtPods(
  { store, pods, settings }: ExistingPodsParts,
  request: AdmissionRequest,
  enforce: LevelVersion,
): Generator<undefined, Looked, void> {
  const found = new Map<string, Found>()
  const deadline = performance.now() + mostMs
  let checked = 0
  for (const stored of store.look({ resource: pods, namespace: request.name, selection: everything })) {
    yield undefined
    if (stored === undefined) continue
    if (checked >= mostPods || performance.now() > deadline) break
    checked += 1
    const object = leanAnnotated(stored, pods)
    const pod = podOf(object)
    if (pod === undefined || settings.exemptions.runtimeClasses.has(pod.spec.runtimeClassName ?? '')) continue
    const violations = evaluatePod(enforce, { ...pod, identity: request.identity })
    if (violations.length === 0) continue
    const reasons = reasonsOf(violations)
    const before = found.get(reasons)
    found.set(reasons, { pod: before?.pod ?? object.metadata?.name ?? '', others: before === undefined ? 0 : before.others + 1 })
  }
  return { found, checked }
}

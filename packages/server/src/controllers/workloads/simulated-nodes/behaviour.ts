// Behaviour of simulated containers: the rule format of --simulation-rules and of the annotation `behaviour` of pods
// (docs/testkit/simulated-nodes.md).

import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type CommandScript, commandScriptsIn, isLike, type PortScript, portScriptsIn } from './container-scripts.js'
import {
  durationIn,
  integerIn,
  mappingIn,
  quantitiesIn,
  refuseUnknownMembers,
  textIn,
  textMapIn,
  textsIn,
  type Unknowns,
} from './read-members.js'

export interface Behaviour {
  /** Time in ContainerCreating before the first start. */
  readonly startAfterMs: number
  /** Number of image pulls that fail. */
  readonly failedPulls: number
  /** Time from the start of a container until it is ready. */
  readonly readyAfterMs: number
  /** A ready container is ready for `readyForMs`, then not ready for `unreadyForMs`, again and again. */
  readonly flips: { readonly readyForMs: number; readonly unreadyForMs: number } | undefined
  /** Time from the start until the container exits; undefined: it runs until it is stopped. */
  readonly exitAfterMs: number | undefined
  readonly exitCode: number
  readonly isOomKilled: boolean
  /** Number of times that the container exits in this way; later it does what it does without rules. */
  readonly exits: number
  readonly laterExitAfterMs: number | undefined
  /** Time from SIGTERM until the container exits; infinite: SIGKILL at the end of the grace period. */
  readonly stopAfterMs: number
  /** Lines that the container writes when it starts. */
  readonly log: readonly string[]
  readonly usage: { readonly cpu?: string; readonly memory?: string }
  /** Responses to commands. */
  readonly exec: readonly CommandScript[]
  /** Ports on which the container listens. */
  readonly ports: readonly PortScript[]
}

/** A rule sets only some members. The last rule that sets a member decides. */
export interface Rule {
  readonly match: Match
  /** Names of containers and init containers; undefined: all containers that are not init containers. */
  readonly containers: readonly string[] | undefined
  readonly behaviour: Partial<Behaviour>
}

interface Match {
  readonly namespace?: string
  readonly name?: string
  readonly node?: string
  readonly image?: string
  readonly labels?: { readonly [key: string]: string }
}

const runsOn: Behaviour = {
  startAfterMs: 0,
  failedPulls: 0,
  readyAfterMs: 0,
  flips: undefined,
  exitAfterMs: undefined,
  exitCode: 0,
  isOomKilled: false,
  exits: Number.POSITIVE_INFINITY,
  laterExitAfterMs: undefined,
  stopAfterMs: 0,
  log: [],
  usage: {},
  exec: [],
  ports: [],
}

const completes: Behaviour = { ...runsOn, exitAfterMs: 0, laterExitAfterMs: 0 }
/** Containers of Jobs run for a second. */
const worksForASecond: Behaviour = { ...runsOn, exitAfterMs: 1000, laterExitAfterMs: 1000 }

interface SimulatedContainer {
  readonly name: string
  readonly image: string
  readonly isInit: boolean
}

/** `rules`: those of the file, then those of the pod's annotation. */
export function behaviourOf(pod: Pod, container: SimulatedContainer, rules: readonly Rule[]): Behaviour {
  const found = { ...(container.isInit ? completes : isJobPod(pod) ? worksForASecond : runsOn) }
  for (const { match, containers, behaviour } of rules) {
    const isSelected = containers === undefined ? !container.isInit : containers.includes(container.name)
    if (isSelected && matches(match, pod, container)) Object.assign(found, behaviour)
  }
  return found
}

const isJobPod = ({ metadata, spec }: Pod): boolean =>
  spec?.restartPolicy !== 'Always' &&
  metadata?.ownerReferences?.some(({ kind, controller }) => kind === 'Job' && controller === true) === true

function matches({ namespace, name, node, image, labels }: Match, { metadata, spec }: Pod, container: SimulatedContainer): boolean {
  if (namespace !== undefined && namespace !== metadata?.namespace) return false
  if (node !== undefined && node !== spec?.nodeName) return false
  if (name !== undefined && !isLike(name, metadata?.name ?? '')) return false
  if (image !== undefined && !isLike(image, container.image)) return false
  return Object.entries(labels ?? {}).every(([key, value]) => metadata?.labels?.[key] === value)
}

/** Rules of a file: `rules: [...]`. Throws an Error that names the member. */
export function parseRules(value: unknown): readonly Rule[] {
  const file = mappingIn({ file: value }, 'file') ?? {}
  refuseUnknownMembers(file, ['apiVersion', 'kind', 'rules'])
  const { rules = [] } = file
  if (!Array.isArray(rules)) throw new Error('rules: must be a list')
  return rules.map((rule: unknown, i) => parseRule(rule, `rules[${i}]`, true))
}

/** All of them are applied to each container in each run. */
const maxPodRules = 100

/** Rules of an annotation: one rule or a list, without `match`. */
export function parsePodRules(value: unknown): readonly Rule[] {
  if (!Array.isArray(value)) return [parseRule(value, 'the rule', false)]
  if (value.length > maxPodRules) throw new Error(`must have at most ${maxPodRules} rules`)
  return value.map((rule: unknown, i) => parseRule(rule, `[${i}]`, false))
}

const members = [
  'containers',
  'startAfter',
  'imagePull',
  'readyAfter',
  'readyFor',
  'unreadyFor',
  'exitAfter',
  'exitCode',
  'exits',
  'oomKilled',
  'stopAfter',
  'log',
  'usage',
  'exec',
  'ports',
]

function parseRule(value: unknown, path: string, canMatch: boolean): Rule {
  try {
    const rule = mappingIn({ value }, 'value') ?? {}
    refuseUnknownMembers(rule, canMatch ? ['match', ...members] : members)
    return { match: canMatch ? parseMatch(rule) : {}, containers: textsIn(rule, 'containers'), behaviour: parseBehaviour(rule) }
  } catch (thrown) {
    throw new Error(`${path}: ${(thrown as Error).message}`)
  }
}

function parseMatch(rule: Unknowns): Match {
  const match = mappingIn(rule, 'match') ?? {}
  refuseUnknownMembers(match, ['namespace', 'name', 'node', 'image', 'labels'])
  return defined<Match>({
    namespace: textIn(match, 'namespace'),
    name: textIn(match, 'name'),
    node: textIn(match, 'node'),
    image: textIn(match, 'image'),
    labels: textMapIn(match, 'labels'),
  })
}

function parseBehaviour(rule: Unknowns): Partial<Behaviour> {
  const { oomKilled } = rule
  if (oomKilled !== undefined && typeof oomKilled !== 'boolean') throw new Error('oomKilled: must be true or false')
  const exitCode = integerIn(rule, 'exitCode') ?? (oomKilled === true ? 137 : undefined)
  if (exitCode !== undefined && exitCode > 255) throw new Error('exitCode: must be at most 255')
  const exits = integerIn(rule, 'exits')
  // An exit code alone means an exit at once.
  const exitAfterMs = durationIn(rule, 'exitAfter') ?? (exitCode === undefined && exits === undefined ? undefined : 0)
  return defined<Partial<Behaviour>>({
    startAfterMs: durationIn(rule, 'startAfter'),
    failedPulls: failedPullsIn(rule),
    readyAfterMs: rule['readyAfter'] === 'never' ? Number.POSITIVE_INFINITY : durationIn(rule, 'readyAfter'),
    flips: flipsIn(rule),
    exitAfterMs,
    exitCode,
    isOomKilled: oomKilled,
    exits,
    stopAfterMs: rule['stopAfter'] === 'never' ? Number.POSITIVE_INFINITY : durationIn(rule, 'stopAfter'),
    log: textsIn(rule, 'log'),
    usage: usageIn(rule),
    exec: commandScriptsIn(rule),
    ports: portScriptsIn(rule),
  })
}

function failedPullsIn(rule: Unknowns): number | undefined {
  const { imagePull } = rule
  if (imagePull === 'fails') return Number.POSITIVE_INFINITY
  return integerIn(mappingIn(rule, 'imagePull') ?? {}, 'failures')
}

/** Each flip is a write. Probes of a kubelet have this minimum period, too. */
const minFlipMs = 1000

function flipsIn(rule: Unknowns): Behaviour['flips'] {
  const readyForMs = durationIn(rule, 'readyFor')
  const unreadyForMs = durationIn(rule, 'unreadyFor')
  if (readyForMs === undefined && unreadyForMs === undefined) return undefined
  if (readyForMs === undefined || unreadyForMs === undefined) throw new Error('readyFor: readyFor and unreadyFor need each other')
  if (Math.min(readyForMs, unreadyForMs) < minFlipMs)
    throw new Error(`readyFor: readyFor and unreadyFor must be at least ${minFlipMs / 1000} s`)
  return { readyForMs, unreadyForMs }
}

function usageIn(rule: Unknowns): Behaviour['usage'] | undefined {
  const usage = quantitiesIn(rule, 'usage')
  if (usage === undefined) return undefined
  refuseUnknownMembers(usage, ['cpu', 'memory'])
  const negative = Object.keys(usage).find((name) => usage[name]?.trim().startsWith('-'))
  if (negative !== undefined) throw new Error(`usage.${negative}: must not be negative`)
  return usage
}

/** Without undefined members. */
const defined = <T extends object>(object: { readonly [Name in keyof T]: T[Name] | undefined }): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T

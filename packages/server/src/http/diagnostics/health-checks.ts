// Whether the server lives and is ready, check by check.

import type { Identity } from '../api/identity.js'
import type { Query } from '../api/options/query.js'
import { sortTexts } from '../base/text-order.js'

type Problem = string | undefined

export interface Check {
  readonly name: string
  /** Undefined when all is well, else why not. */
  readonly problem: () => Problem | Promise<Problem>
}

export interface HealthChecks {
  readonly healthz: readonly Check[]
  readonly livez: readonly Check[]
  readonly readyz: readonly Check[]
}

export interface HealthAnswer {
  readonly code: number
  readonly text: string
}

export type HealthPath = keyof HealthChecks

/** The whole of `/livez` and its like. */
export async function answerAll(path: HealthPath, checks: readonly Check[], query: Query): Promise<HealthAnswer> {
  const excluded = query.all('exclude')
  const problems = await Promise.all(checks.map((check) => (excluded.includes(check.name) ? 'excluded' : check.problem())))
  const lines: string[] = []
  let isFailing = false
  for (const [index, check] of checks.entries()) {
    const problem = problems[index]
    if (problem === undefined) lines.push(`[+]${check.name} ok`)
    else if (problem === 'excluded') lines.push(`[+]${check.name} excluded: ok`)
    else {
      isFailing = true
      lines.push(`[-]${check.name} failed: reason withheld`)
    }
  }
  const unmatched = sortTexts([...new Set(excluded.filter((name) => !checks.some((check) => check.name === name)))])
  if (unmatched.length > 0)
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unmatched.map((name) => `"${name}"`).join(',')}`)
  if (isFailing) return { code: 500, text: `${lines.join('\n')}\n${path} check failed\n` }
  return query.all('verbose').length > 0 ? { code: 200, text: `${lines.join('\n')}\nhealthz check passed\n` } : { code: 200, text: 'ok' }
}

/** One check by its name, such as `/livez/ping`. */
export async function answerOne(checks: readonly Check[], name: string): Promise<HealthAnswer | undefined> {
  const check = checks.find((candidate) => candidate.name === name)
  if (check === undefined) return undefined
  const problem = await check.problem()
  return problem === undefined ? { code: 200, text: 'ok' } : { code: 500, text: `internal server error: ${problem}\n` }
}

export interface HealthSources {
  readonly storeProblem: Check['problem']
  readonly storeUnreadiness: Check['problem']
  /** True once everything that start-up does is done. */
  readonly hasStarted: () => boolean
  readonly isShuttingDown: () => boolean
  /** While it lasts, what start-up has not done yet does not make the server dead. */
  readonly isInGracePeriod: () => boolean
}

/** The steps of start-up under the names by which operators' tools know them. */
const startupSteps = (identity: Identity): readonly string[] => [
  'poststarthook/start-kube-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/bootstrap-controller',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-status-available-controller',
  `poststarthook/${identity.prefixed('apiserver-autoregistration')}`,
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
]

export function healthChecks(sources: HealthSources, identity: Identity): HealthChecks {
  const steps = startupSteps(identity)
  const fine = (name: string): Check => ({ name, problem: () => undefined })
  const started = (name: string): Check => ({ name, problem: () => (sources.hasStarted() ? undefined : 'not finished') })
  const startedOrGrace = (name: string): Check => ({
    name,
    problem: () => (sources.hasStarted() || sources.isInGracePeriod() ? undefined : 'not finished'),
  })
  const first = [fine('ping'), fine('log'), { name: 'etcd', problem: sources.storeProblem }]
  return {
    healthz: [...first, ...steps.map(started)],
    livez: [...first, ...steps.map(startedOrGrace)],
    readyz: [
      ...first,
      { name: 'etcd-readiness', problem: sources.storeUnreadiness },
      started('informer-sync'),
      ...steps.map(started),
      { name: 'shutdown', problem: () => (sources.isShuttingDown() ? 'process is shutting down' : undefined) },
    ],
  }
}

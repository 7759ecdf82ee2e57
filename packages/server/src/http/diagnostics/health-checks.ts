// Health checks: /healthz, /livez and /readyz, with the names and texts of kube-apiserver.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Query } from '@cluster-apiserver/api/api/options/query.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'

type Problem = string | undefined

export interface Check {
  readonly name: string
  readonly problem: () => Problem | Promise<Problem>
}

export interface HealthChecks {
  readonly healthz: readonly Check[]
  readonly livez: readonly Check[]
  readonly readyz: readonly Check[]
}

interface HealthResponse {
  readonly code: number
  readonly text: string
}

export type HealthPath = keyof HealthChecks

export async function runChecks(path: HealthPath, checks: readonly Check[], query: Query): Promise<HealthResponse> {
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

export async function runCheck(checks: readonly Check[], name: string): Promise<HealthResponse | undefined> {
  const check = checks.find((candidate) => candidate.name === name)
  if (check === undefined) return undefined
  const problem = await check.problem()
  return problem === undefined ? { code: 200, text: 'ok' } : { code: 500, text: `internal server error: ${problem}\n` }
}

interface HealthSources {
  readonly storeProblem: Check['problem']
  readonly storeReadinessProblem: Check['problem']
  readonly hasStarted: () => boolean
  readonly isShuttingDown: () => boolean
  /** True while liveness ignores unfinished start-up steps (--livez-grace-period). */
  readonly isInGracePeriod: () => boolean
}

/** Post-start hooks of kube-apiserver, whose names monitoring tools know. All of them are done when the server has started. */
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
  const alwaysOk = (name: string): Check => ({ name, problem: () => undefined })
  const started = (name: string): Check => ({ name, problem: () => (sources.hasStarted() ? undefined : 'not finished') })
  const startedOrGrace = (name: string): Check => ({
    name,
    problem: () => (sources.hasStarted() || sources.isInGracePeriod() ? undefined : 'not finished'),
  })
  const commonChecks = [alwaysOk('ping'), alwaysOk('log'), { name: 'etcd', problem: sources.storeProblem }]
  return {
    healthz: [...commonChecks, ...steps.map(started)],
    livez: [...commonChecks, ...steps.map(startedOrGrace)],
    readyz: [
      ...commonChecks,
      { name: 'etcd-readiness', problem: sources.storeReadinessProblem },
      started('informer-sync'),
      ...steps.map(started),
      { name: 'shutdown', problem: () => (sources.isShuttingDown() ? 'process is shutting down' : undefined) },
    ],
  }
}

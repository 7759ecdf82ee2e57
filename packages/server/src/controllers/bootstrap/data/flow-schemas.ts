// Suggested FlowSchemas; the mandatory ones are those of the API package. `role-template.ts` explains the placeholders in names.

interface ResourceRule {
  /** Each field is a list separated by spaces. The core group is written `core`. */
  readonly verbs: string
  readonly groups: string
  readonly resources: string
  readonly clusterScope?: true
}

export interface FlowSchemaTemplate {
  readonly name: string
  readonly level: string
  readonly precedence: number
  readonly distinguisher?: 'ByUser' | 'ByNamespace'
  /** `User:<name>`, `Group:<name>` or `ServiceAccount:<name>`, separated by spaces. */
  readonly subjects: string
  readonly resourceRules?: readonly ResourceRule[]
  readonly pathRules?: readonly { readonly verbs: string; readonly paths: string }[]
}

const everything = {
  resourceRules: [{ verbs: '*', groups: '*', resources: '*', clusterScope: true }],
  pathRules: [{ verbs: '*', paths: '*' }],
} as const

const electionVerbs = 'get create update'
const leaseElection: ResourceRule = { verbs: electionVerbs, groups: '{coordination}', resources: 'leases' }
const allUsers = 'Group:system:unauthenticated Group:system:authenticated'

export const suggestedFlowSchemas: readonly FlowSchemaTemplate[] = [
  {
    name: 'probes',
    level: 'exempt',
    precedence: 2,
    subjects: allUsers,
    pathRules: [{ verbs: 'get', paths: '/healthz /readyz /livez' }],
  },
  {
    name: 'system-leader-election',
    level: 'leader-election',
    precedence: 100,
    distinguisher: 'ByUser',
    subjects: 'User:system:%-controller-manager User:system:%-scheduler ServiceAccount:*',
    resourceRules: [leaseElection],
  },
  {
    name: 'endpoint-controller',
    level: 'workload-high',
    precedence: 150,
    distinguisher: 'ByUser',
    subjects: 'User:system:%-controller-manager ServiceAccount:endpoint-controller ServiceAccount:endpointslicemirroring-controller',
    resourceRules: [{ verbs: electionVerbs, groups: 'core', resources: 'endpoints' }],
  },
  {
    name: 'workload-leader-election',
    level: 'leader-election',
    precedence: 200,
    distinguisher: 'ByUser',
    subjects: 'ServiceAccount:*',
    resourceRules: [{ verbs: electionVerbs, groups: 'core', resources: 'endpoints configmaps' }, leaseElection],
  },
  {
    name: 'system-node-high',
    level: 'node-high',
    precedence: 400,
    distinguisher: 'ByUser',
    subjects: 'Group:system:nodes',
    resourceRules: [
      { verbs: '*', groups: 'core', resources: 'nodes nodes/status', clusterScope: true },
      { verbs: '*', groups: '{coordination}', resources: 'leases' },
    ],
  },
  { name: 'system-nodes', level: 'system', precedence: 500, distinguisher: 'ByUser', subjects: 'Group:system:nodes', ...everything },
  {
    name: '%-controller-manager',
    level: 'workload-high',
    precedence: 800,
    distinguisher: 'ByNamespace',
    subjects: 'User:system:%-controller-manager',
    ...everything,
  },
  {
    name: '%-scheduler',
    level: 'workload-high',
    precedence: 800,
    distinguisher: 'ByNamespace',
    subjects: 'User:system:%-scheduler',
    ...everything,
  },
  {
    name: '%-system-service-accounts',
    level: 'workload-high',
    precedence: 900,
    distinguisher: 'ByNamespace',
    subjects: 'ServiceAccount:*',
    ...everything,
  },
  {
    name: 'service-accounts',
    level: 'workload-low',
    precedence: 9000,
    distinguisher: 'ByUser',
    subjects: 'Group:system:serviceaccounts',
    ...everything,
  },
  { name: 'global-default', level: 'global-default', precedence: 9900, distinguisher: 'ByUser', subjects: allUsers, ...everything },
]

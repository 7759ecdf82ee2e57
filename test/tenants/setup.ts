// Setup of a run by the administrator: the CRD, and each tenant's namespace, permissions and cluster-scoped objects.

import type { ApiClient } from '../kit/api-client.js'
import { expectStatus, until, untilStatus } from '../kit/fixtures.js'
import { widgetCrd, widgetGroup } from './kinds.js'
import type { Tenant } from './tenant.js'

export const rbacGroup = 'rbac.authorization.cluster.io'
const rbac = `/apis/${rbacGroup}/v1`
export const priorityClasses = '/apis/scheduling.cluster.io/v1/priorityclasses'
export const classNames = ({ char }: Tenant): readonly string[] => [0, 1].map((i) => `class-${char}-${i}`)

const crudVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/** Permissions of a tenant in its namespace, without `escalate` and `bind`. The last rule puts the mark into SelfSubjectRulesReviews. */
const tenantRules = (mark: string) => [
  {
    apiGroups: [''],
    resources: ['configmaps', 'secrets', 'pods', 'pods/status', 'pods/eviction', 'events', 'serviceaccounts'],
    verbs: crudVerbs,
  },
  { apiGroups: ['apps'], resources: ['deployments', 'deployments/status', 'deployments/scale'], verbs: crudVerbs },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets', 'poddisruptionbudgets/status'], verbs: crudVerbs },
  { apiGroups: [rbacGroup], resources: ['roles', 'rolebindings'], verbs: crudVerbs },
  { apiGroups: [widgetGroup], resources: ['widgets', 'widgets/status'], verbs: crudVerbs },
  { apiGroups: [''], resources: ['services'], verbs: ['get'], resourceNames: [mark] },
]

/** `moreRoles`: number of additional bound Roles per tenant, which the RBAC escalation check reads. */
export async function setUp(admin: ApiClient, tenants: readonly Tenant[], moreRoles: number): Promise<void> {
  await create(admin, '/apis/apiextensions.cluster.io/v1/customresourcedefinitions', widgetCrd)
  await Promise.all(tenants.map((tenant) => setUpTenant(admin, tenant, moreRoles)))
}

/** Resolves when the server of `admin` serves the CRD and knows the tenant's permissions, which arrive at each replica at another time. */
export async function untilUsable(admin: ApiClient, { namespace, user }: Tenant): Promise<void> {
  await untilStatus(() => admin.get(`/apis/${widgetGroup}/v1/namespaces/${namespace}/widgets`), 200)
  const resourceAttributes = { namespace, verb: 'create', group: rbacGroup, resource: 'roles' }
  await until(
    () => admin.post('/apis/authorization.cluster.io/v1/subjectaccessreviews', { spec: { user, resourceAttributes } }),
    ({ json }) => (json['status'] as { readonly allowed?: boolean } | undefined)?.allowed === true,
  )
}

async function setUpTenant(admin: ApiClient, tenant: Tenant, moreRoles: number): Promise<void> {
  const { namespace, mark, user, char } = tenant
  const subjects = [{ kind: 'User', apiGroup: rbacGroup, name: user }]
  await create(admin, '/api/v1/namespaces', { metadata: { name: namespace, annotations: { mark } } })
  await create(admin, `${rbac}/namespaces/${namespace}/roles`, { metadata: { name: 'tenant' }, rules: tenantRules(mark) })
  await create(admin, `${rbac}/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'tenant' },
    subjects,
    roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'tenant' },
  })
  for (let i = 0; i < moreRoles; i++) {
    const name = `more-${i}`
    const rules = [{ apiGroups: [''], resources: ['services'], verbs: ['get'], resourceNames: [`${mark}-${i}`] }]
    await create(admin, `${rbac}/namespaces/${namespace}/roles`, { metadata: { name }, rules })
    await create(admin, `${rbac}/namespaces/${namespace}/rolebindings`, {
      metadata: { name },
      subjects,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
    })
  }
  for (const name of classNames(tenant))
    await create(admin, priorityClasses, { metadata: { name, labels: { mark } }, value: 1000, description: mark })
  await create(admin, `${rbac}/clusterroles`, {
    metadata: { name: `tenant-${char}` },
    rules: [
      {
        apiGroups: ['scheduling.cluster.io'],
        resources: ['priorityclasses'],
        verbs: ['get', 'list', 'watch', 'update', 'patch'],
        resourceNames: classNames(tenant),
      },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get'], resourceNames: [namespace] },
    ],
  })
  await create(admin, `${rbac}/clusterrolebindings`, {
    metadata: { name: `tenant-${char}` },
    subjects,
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: `tenant-${char}` },
  })
}

async function create(admin: ApiClient, path: string, object: object): Promise<void> {
  expectStatus(await admin.post(path, object), 201)
}

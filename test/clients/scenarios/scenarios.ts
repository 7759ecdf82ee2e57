// The scenarios that every client runs.

import { deploymentOf, serviceOf } from '../manifests.js'
import type { Ref, Scenario } from './scenario.js'

const configMapRef = (name: string): Ref => ({ apiVersion: 'v1', kind: 'ConfigMap', name })
const configMapKind = { apiVersion: 'v1', kind: 'ConfigMap' }
const configMapOf = (name: string, data: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>> = {}) => ({
  ...configMapKind,
  metadata: { name, labels },
  data,
})
const deployment = (name: string): Ref => ({ apiVersion: 'apps/v1', kind: 'Deployment', name })
const imageOf = (image: string) => ({ spec: { template: { spec: { containers: [{ name: 'web', image }] } } } })

export const scenarios: readonly Scenario[] = [
  {
    title: 'CRUD',
    steps: [
      { op: 'get', ref: configMapRef('life') },
      { op: 'create', object: configMapOf('life', { a: '1', text: 'ä€😀\n' }) },
      { op: 'create', object: configMapOf('life', { a: '2' }) },
      { op: 'get', ref: configMapRef('life') },
      { op: 'update', ref: configMapRef('life'), fields: { data: { b: '2' } } },
      { op: 'staleUpdate', ref: configMapRef('life'), fields: { data: { c: '3' } } },
      { op: 'get', ref: configMapRef('life') },
      { op: 'delete', ref: configMapRef('life') },
      { op: 'delete', ref: configMapRef('life') },
      { op: 'get', ref: configMapRef('life') },
    ],
  },
  {
    title: 'patches',
    steps: [
      { op: 'create', object: deploymentOf('web') },
      { op: 'patch', ref: deployment('web'), type: 'strategic', patch: imageOf('registry.example/web:2') },
      {
        op: 'patch',
        ref: deployment('web'),
        type: 'merge',
        patch: { metadata: { labels: { tier: 'front', app: null } }, spec: { replicas: 5 } },
      },
      {
        op: 'patch',
        ref: deployment('web'),
        type: 'json',
        patch: [
          { op: 'test', path: '/spec/replicas', value: 5 },
          { op: 'replace', path: '/spec/replicas', value: 9 },
        ],
      },
      { op: 'patch', ref: deployment('web'), type: 'json', patch: [{ op: 'test', path: '/spec/replicas', value: 5 }] },
      { op: 'patch', ref: deployment('web'), type: 'merge', patch: { spec: { replicas: -1 } } },
      { op: 'patch', ref: deployment('none'), type: 'merge', patch: { spec: { replicas: 1 } } },
      { op: 'get', ref: deployment('web') },
      { op: 'delete', ref: deployment('web') },
    ],
  },
  {
    title: 'managed fields',
    steps: [
      { op: 'apply', object: configMapOf('owned', { a: '1', b: '1' }), manager: 'alice', force: false },
      { op: 'apply', object: configMapOf('owned', { a: '2' }), manager: 'bob', force: false },
      { op: 'apply', object: configMapOf('owned', { a: '2' }), manager: 'bob', force: true },
      { op: 'apply', object: configMapOf('owned', { c: '3' }), manager: 'alice', force: false },
      { op: 'get', ref: configMapRef('owned') },
    ],
  },
  {
    title: 'selectors',
    steps: [
      ...['c', 'a', 'b'].map(
        (name) => ({ op: 'create', object: configMapOf(name, {}, { side: name === 'a' ? 'left' : 'right' }) }) as const,
      ),
      { op: 'list', ref: configMapKind, selector: 'side' },
      { op: 'list', ref: configMapKind, selector: 'side=right' },
      { op: 'list', ref: configMapKind, selector: 'side in (left),side!=right' },
      { op: 'list', ref: configMapKind, selector: 'side=none' },
    ],
  },
  {
    title: 'validation errors',
    steps: [
      { op: 'create', object: configMapOf('Not_A_Name', {}) },
      { op: 'create', object: { ...serviceOf('broken'), spec: { ports: [{ port: 99_999 }] } } },
      { op: 'create', object: serviceOf('fine') },
      { op: 'patch', ref: { apiVersion: 'v1', kind: 'Service', name: 'fine' }, type: 'merge', patch: { spec: { clusterIP: '1.2.3.4' } } },
      { op: 'update', ref: configMapRef('none'), fields: { data: {} } },
    ],
  },
  {
    title: 'subresources',
    steps: [
      { op: 'create', object: deploymentOf('parts') },
      { op: 'scale', ref: deployment('parts'), replicas: 4 },
      { op: 'scale', ref: deployment('none'), replicas: 4 },
      { op: 'updateStatus', ref: deployment('parts'), status: { replicas: 2, observedGeneration: 1 } },
      { op: 'updateStatus', ref: deployment('parts'), status: { replicas: -2 } },
      { op: 'update', ref: deployment('parts'), fields: { status: { replicas: 9 } } },
      { op: 'get', ref: deployment('parts') },
      { op: 'delete', ref: deployment('parts') },
    ],
  },
  {
    title: 'pages, dry run, delete collection',
    steps: [
      ...['e', 'd', 'c', 'b', 'a'].map(
        (name) => ({ op: 'create', object: configMapOf(name, {}, { page: name < 'd' ? 'early' : 'late' }) }) as const,
      ),
      { op: 'list', ref: configMapKind, selector: 'page', limit: 2 },
      { op: 'list', ref: configMapKind, selector: 'page', fieldSelector: 'metadata.name=b' },
      { op: 'list', ref: configMapKind, selector: 'page', fieldSelector: 'metadata.name!=b', limit: 1 },
      { op: 'list', ref: configMapKind, selector: 'page', fieldSelector: 'data.a=1' },
      { op: 'create', object: configMapOf('never', { a: '1' }), dryRun: true },
      { op: 'create', object: configMapOf('a', { a: '1' }), dryRun: true },
      { op: 'get', ref: configMapRef('never') },
      { op: 'deleteSelected', ref: configMapKind, selector: 'page=early' },
      { op: 'list', ref: configMapKind, selector: 'page' },
    ],
  },
  {
    title: 'finalizers',
    steps: [
      { op: 'create', object: { ...configMapKind, metadata: { name: 'held', finalizers: ['example.com/hold'] } } },
      { op: 'delete', ref: configMapRef('held') },
      { op: 'get', ref: configMapRef('held') },
      {
        op: 'patch',
        ref: configMapRef('held'),
        type: 'merge',
        patch: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
      },
      { op: 'patch', ref: configMapRef('held'), type: 'merge', patch: { data: { still: 'here' } } },
      { op: 'patch', ref: configMapRef('held'), type: 'merge', patch: { metadata: { finalizers: null } } },
      { op: 'get', ref: configMapRef('held') },
    ],
  },
  {
    title: 'impersonation',
    steps: [
      { op: 'create', object: configMapOf('theirs', { a: '1' }) },
      { op: 'as', user: 'alice', ref: configMapKind, step: { op: 'get', ref: configMapRef('theirs') } },
      {
        op: 'create',
        object: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'alice' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
        },
      },
      { op: 'as', user: 'alice', ref: configMapKind, step: { op: 'get', ref: configMapRef('theirs') } },
      { op: 'as', user: 'alice', ref: configMapKind, step: { op: 'list', ref: { apiVersion: 'v1', kind: 'Secret' }, selector: 'a' } },
      { op: 'as', user: 'bob', ref: configMapKind, step: { op: 'list', ref: configMapKind, selector: 'a' } },
    ],
  },
  {
    title: 'tables',
    steps: [
      { op: 'create', object: deploymentOf('web') },
      { op: 'create', object: deploymentOf('api', { replicas: 1, image: 'registry.example/api:7' }) },
      { op: 'create', object: configMapOf('one', { a: '1', b: '2' }, { shown: 'yes' }) },
      { op: 'table', ref: { apiVersion: 'apps/v1', kind: 'Deployment' }, selector: 'app' },
      { op: 'table', ref: { apiVersion: 'apps/v1', kind: 'Deployment' }, selector: 'app=api' },
      { op: 'table', ref: configMapKind, selector: 'shown=yes' },
    ],
  },
  {
    title: 'bookmarks',
    steps: [
      {
        op: 'resume',
        ref: configMapKind,
        selector: 'kept=yes',
        before: [
          { op: 'create', object: configMapOf('one', {}, { kept: 'yes' }) },
          { op: 'create', object: configMapOf('unseen', {}) },
        ],
        later: [
          { op: 'create', object: configMapOf('two', {}, { kept: 'yes' }) },
          { op: 'delete', ref: configMapRef('one') },
        ],
      },
    ],
  },
  {
    title: 'expired resourceVersion (410)',
    setup: 'short history',
    steps: [{ op: 'watchFrom', ref: configMapKind, resourceVersion: '1' }],
  },
  ...(['token of a plugin', 'certificate of a plugin'] as const).map(
    (setup): Scenario => ({
      title: `exec plugin: ${setup === 'token of a plugin' ? 'token' : 'certificate'}`,
      setup,
      steps: [
        { op: 'create', object: configMapOf('mine', { a: '1' }) },
        { op: 'get', ref: configMapRef('mine') },
        { op: 'get', ref: configMapRef('none') },
        { op: 'list', ref: configMapKind, selector: 'a' },
        // carol may not delete.
        { op: 'delete', ref: configMapRef('mine') },
      ],
    }),
  ),
  {
    title: 'exec plugin: refused token',
    setup: 'refused token of a plugin',
    steps: [{ op: 'get', ref: configMapRef('mine') }],
  },
  {
    title: 'watch',
    steps: [
      { op: 'create', object: configMapOf('before', {}, { seen: 'yes' }) },
      {
        op: 'watch',
        ref: configMapKind,
        selector: 'seen=yes',
        during: [
          { op: 'create', object: configMapOf('one', {}, { seen: 'yes' }) },
          { op: 'patch', ref: configMapRef('one'), type: 'merge', patch: { data: { a: '1' } } },
          { op: 'patch', ref: configMapRef('before'), type: 'merge', patch: { metadata: { labels: { seen: 'no' } } } },
          { op: 'delete', ref: configMapRef('one') },
        ],
      },
    ],
  },
]

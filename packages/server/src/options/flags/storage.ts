// Flags of storage: engine, etcd, history, caches, garbage collection and encryption at rest.

import type { FlagDefinition } from './flag.js'

/** Flags that need --etcd-servers. */
export const etcdOnlyFlags = ['etcd-prefix', 'etcd-cafile', 'etcd-certfile', 'etcd-keyfile', 'lease-reuse-duration-seconds'] as const

export const storageFlags = [
  {
    name: 'data-dir',
    kind: 'folder',
    default: './cluster-data',
    help: 'data folder: objects, certificates, admin.conf',
  },
  {
    name: 'storage-backend',
    kind: 'choice',
    choices: ['lmdb', 'memory', 'etcd', 'etcd3'],
    default: 'lmdb',
    help: 'storage engine; memory is lost at exit; etcd (or etcd3) needs --etcd-servers, which also select it',
  },
  {
    name: 'etcd-compaction-interval',
    kind: 'duration',
    default: '5m',
    help: 'how long history is kept for watches and lists, with any engine; 0 for ever',
  },
  {
    name: 'read-cache-bytes',
    kind: 'bytes',
    default: '256MiB',
    help: 'maximum memory of the read cache; also at most an eighth of the memory of the machine',
  },
  { name: 'event-ttl', kind: 'duration', default: '1h', help: 'how long Event objects are kept' },
  {
    name: 'storage-media-type',
    kind: 'text',
    default: 'application/json',
    effect: 'none',
    help: 'the store has a format of its own; responses have the negotiated media type',
  },
  {
    name: 'watch-cache',
    kind: 'boolean',
    default: 'true',
    effect: 'none',
    help: 'watches are served from the store; --read-cache-bytes limits caches',
  },
  { name: 'watch-cache-sizes', kind: 'list', effect: 'none', help: 'see --watch-cache' },
  { name: 'default-watch-cache-size', kind: 'integer', min: 0, default: '100', effect: 'none', help: 'see --watch-cache' },
  {
    name: 'delete-collection-workers',
    kind: 'integer',
    min: 1,
    max: 1000,
    default: '16',
    help: 'concurrent deletions within one deletecollection request',
  },
  {
    name: 'enable-garbage-collector',
    kind: 'boolean',
    default: 'true',
    help: 'run the garbage collector; without it dependents of deleted objects stay, whatever the propagation policy',
  },
  {
    name: 'encryption-provider-config',
    kind: 'file',
    content: 'yaml',
    help: 'EncryptionConfiguration: encrypted resources and their keys',
  },
  { name: 'encryption-provider-config-automatic-reload', kind: 'boolean', default: 'false', help: 'reload that file when it changes' },
  {
    name: 'etcd-servers',
    kind: 'list',
    help: 'etcd endpoints, such as https://10.0.0.1:2379, or with a user https://name:password@10.0.0.1:2379',
  },
  {
    name: 'etcd-servers-overrides',
    kind: 'list',
    refused: 'all resources are stored in one etcd; remove the flag and use --etcd-servers',
    help: 'rejected: all resources are stored in one etcd',
  },
  { name: 'etcd-prefix', kind: 'text', default: '/registry', help: 'prefix of all keys in etcd' },
  {
    name: 'etcd-cafile',
    kind: 'file',
    content: 'certificates',
    help: 'CAs that verify the certificates of etcd; if unset, the root CAs of Node.js',
  },
  { name: 'etcd-certfile', kind: 'file', content: 'certificates', help: 'client certificate for etcd' },
  { name: 'etcd-keyfile', kind: 'file', content: 'private-key', help: 'private key of the client certificate for etcd' },
  { name: 'etcd-healthcheck-timeout', kind: 'duration', default: '2s', help: 'timeout of the storage health check' },
  { name: 'etcd-readycheck-timeout', kind: 'duration', default: '2s', help: 'timeout of the storage readiness check' },
  {
    name: 'etcd-count-metric-poll-period',
    kind: 'duration',
    default: '1m',
    help: 'minimum interval between counts of objects for metrics',
  },
  {
    name: 'etcd-db-metric-poll-interval',
    kind: 'duration',
    default: '30s',
    help: 'minimum interval between measurements of the database size for metrics; 0 for never',
  },
  {
    name: 'lease-reuse-duration-seconds',
    kind: 'integer',
    min: 0,
    default: '60',
    help: 'how long an etcd lease is shared by new events, which live that much longer',
  },
] as const satisfies readonly FlagDefinition[]

// The stand-in for kube-apiserver in KUBEBUILDER_ASSETS: cluster-apiserver with other defaults.

import { join } from 'node:path'
import { apiServerControllers } from '../../options/flags/api.js'
import type { FlagName } from '../../options/flags/flag-table.js'
import type { ParsedFlags } from '../../options/flags/parse-flags.js'
import { etcdOnlyFlags } from '../../options/flags/storage.js'
import { isStandIn } from './etcd.js'

/**
 * Flags that precede the command line's flags. `controllers`: names to run in addition to the controllers that kube-apiserver has. Here `*`
 * includes the workload controllers: it stands for kube-controller-manager.
 */
export const standInFlags = (controllers = ''): readonly string[] => {
  const added = controllers.split(',').filter((name) => name !== '')
  const names = added.flatMap((name) => (name === '*' ? ['*', 'workloads'] : [name]))
  return ['--identity=kubernetes', `--controllers=${[...apiServerControllers, ...names].join(',')}`]
}

/** Stores in memory, unless --etcd-servers names a real etcd. */
export async function chooseStorage({ values, given }: ParsedFlags): Promise<ParsedFlags> {
  const [endpoint] = values['etcd-servers']
  if (endpoint === undefined || (await isStandIn(endpoint))) {
    const replaced: readonly FlagName[] = ['etcd-servers', 'storage-backend', ...etcdOnlyFlags]
    return { values: { ...values, 'storage-backend': 'memory' }, given: new Set([...given].filter((name) => !replaced.includes(name))) }
  }
  const certDir = values['cert-dir']
  if (given.has('data-dir') || certDir === undefined) return { values, given }
  // Folder for the mirror of etcd: in --cert-dir, which envtest removes; with the port, because servers may share --cert-dir.
  return { values: { ...values, 'data-dir': join(certDir, `data-${values['secure-port']}`) }, given }
}

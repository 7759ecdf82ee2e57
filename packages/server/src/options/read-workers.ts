// Reads --workers: the number of processes that serve requests.

import { availableParallelism } from 'node:os'
import { flagError } from './flags/flag.js'
import type { SettingsInput } from './settings-input.js'

const maxWorkers = 64

export function readWorkers({ values, given }: SettingsInput, storage: string): number {
  const text = values['workers']
  const workers = text === 'auto' ? Math.min(maxWorkers, availableParallelism()) : /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (workers < 1 || workers > maxWorkers)
    throw flagError('workers', `${JSON.stringify(text)} is neither auto nor a number from 1 to ${maxWorkers}`)
  if (workers === 1) return workers
  if (storage === 'memory')
    throw flagError('workers', 'needs a store in a file, which processes can share; remove --storage-backend=memory')
  if (storage === 'etcd') throw flagError('workers', 'needs the embedded store; with etcd, start one server per core as replicas')
  if (values['testkit']) throw flagError('workers', 'cannot be combined with --testkit, which controls one process')
  if (given.has('permit-port-sharing') && values['permit-port-sharing'])
    throw flagError('workers', 'cannot be combined with --permit-port-sharing: the workers share the port among themselves')
  return workers
}

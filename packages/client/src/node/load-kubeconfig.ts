// Where client configurations are: files that the environment lists or that lie in the home folder, read and merged, or the pod we run in.

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { type OptionNames, refuseUnknownOptions } from '../../base/known-options.js'
import { type ClientConfig, type ClusterEntry, emptyConfig, readConfigText, type UserEntry } from '../config/config-entries.js'
import { mergeConfigs } from '../config/merge-configs.js'
import { ConfigError } from '../errors.js'

export interface ConfigLocation {
  /** One file, which must be there; goes before everything else. */
  readonly file?: string | undefined
  /** By default that of the process. */
  readonly environment?: { readonly [name: string]: string | undefined } | undefined
}

const locationNames: OptionNames<ConfigLocation> = { file: true, environment: true }

/** Variables that list files, in either vocabulary; the first that is set counts. */
const variables = ['CLUSTERCONFIG', 'KUBECONFIG']
const homeFolders = ['.cluster', '.kube']

/** The files that would be read, first the one that goes before the others. */
export function configFiles(location: ConfigLocation = {}): readonly string[] {
  refuseUnknownOptions('configFiles', location, locationNames)
  const { file, environment = process.env } = location
  if (file !== undefined && file !== '') return [file]
  for (const name of variables) {
    const list = environment[name] ?? ''
    if (list !== '') return [...new Set(list.split(delimiter).filter((path) => path !== ''))]
  }
  const home = environment['HOME'] || homedir()
  const files = homeFolders.map((folder) => join(home, folder, 'config'))
  return [files.find((path) => readIfThere(path) !== undefined) ?? (files.at(-1) as string)]
}

/** What all files say together. Files of a list that are not there are left out. */
export function loadConfig(location: ConfigLocation = {}): ClientConfig {
  const isOne = location.file !== undefined && location.file !== ''
  const configs = configFiles(location).map((path) => readConfigFile(path, isOne))
  return mergeConfigs(configs)
}

export function readConfigFile(path: string, mustExist = true): ClientConfig {
  const text = readIfThere(path)
  if (text === undefined) {
    if (mustExist) throw new ConfigError(`${path} does not exist`)
    return emptyConfig
  }
  const config = readConfigText(text, path)
  const folder = dirname(resolve(path))
  return { ...config, clusters: mapped(config.clusters, wholeCluster(folder)), users: mapped(config.users, wholeUser(folder)) }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ConfigError(`${path} cannot be read: ${message}`, { cause })
  }
}

const mapped = <T>(entries: ReadonlyMap<string, T>, change: (entry: T) => T): ReadonlyMap<string, T> =>
  new Map([...entries].map(([name, entry]) => [name, change(entry)]))

/** Paths are meant from the folder of the file that says them. */
const wholePath = (folder: string, path: string | undefined): string | undefined =>
  path === undefined || path === '' ? path : resolve(folder, path)

const wholeCluster =
  (folder: string) =>
  (entry: ClusterEntry): ClusterEntry => {
    const ca = wholePath(folder, entry['certificate-authority'])
    return ca === undefined ? entry : { ...entry, 'certificate-authority': ca }
  }

const wholeUser =
  (folder: string) =>
  (entry: UserEntry): UserEntry => {
    const changed: Record<string, unknown> = { ...entry }
    for (const name of ['client-certificate', 'client-key', 'tokenFile'] as const) {
      const path = wholePath(folder, entry[name])
      if (path !== undefined) changed[name] = path
    }
    // A command with a slash is a path; one without is looked for where commands are.
    const command = entry.exec?.command ?? ''
    if (/[/\\]/.test(command)) changed['exec'] = { ...entry.exec, command: resolve(folder, command) }
    return changed as UserEntry
  }

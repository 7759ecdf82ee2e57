// Kubeconfig files, read and merged: the files in CLUSTERCONFIG or KUBECONFIG, else ~/.cluster/config or ~/.kube/config.

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { type ClientConfig, type ClusterEntry, emptyConfig, mergeConfigs, readConfigText, type UserEntry } from '../config/kubeconfig.js'
import { ConfigError } from '../errors.js'

export interface ConfigLocation {
  /** A file that must exist; takes precedence over the environment. */
  readonly file?: string | undefined
  /** Default: process.env. */
  readonly environment?: { readonly [name: string]: string | undefined } | undefined
}

const locationNames: OptionNames<ConfigLocation> = { file: true, environment: true }

/** Lists of paths; the first variable that is not empty wins. */
const pathVariables = ['CLUSTERCONFIG', 'KUBECONFIG']
const homeFolders = ['.cluster', '.kube']

/** Returns the paths of the files, in order of precedence. */
export function configFiles(location: ConfigLocation = {}): readonly string[] {
  refuseUnknownOptions('configFiles', location, locationNames)
  const { file, environment = process.env } = location
  if (file !== undefined && file !== '') return [file]
  for (const name of pathVariables) {
    const list = environment[name] ?? ''
    if (list !== '') return [...new Set(list.split(delimiter).filter((path) => path !== ''))]
  }
  const home = environment['HOME'] || homedir()
  const files = homeFolders.map((folder) => join(home, folder, 'config'))
  return [files.find((path) => readIfPresent(path) !== undefined) ?? (files.at(-1) as string)]
}

/** Loads and merges the files. Missing files are ignored, except the option `file`. */
export function loadConfig(location: ConfigLocation = {}): ClientConfig {
  const isExplicit = location.file !== undefined && location.file !== ''
  const configs = configFiles(location).map((path) => readConfigFile(path, isExplicit))
  return mergeConfigs(configs)
}

export function readConfigFile(path: string, mustExist = true): ClientConfig {
  const text = readIfPresent(path)
  if (text === undefined) {
    if (mustExist) throw new ConfigError(`${path} does not exist`)
    return emptyConfig
  }
  const config = readConfigText(text, path)
  const folder = dirname(resolve(path))
  return { ...config, clusters: mapValues(config.clusters, absoluteCluster(folder)), users: mapValues(config.users, absoluteUser(folder)) }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ConfigError(`${path} cannot be read: ${message}`, { cause })
  }
}

const mapValues = <T>(entries: ReadonlyMap<string, T>, change: (entry: T) => T): ReadonlyMap<string, T> =>
  new Map([...entries].map(([name, entry]) => [name, change(entry)]))

const absolutePath = (folder: string, path: string | undefined): string | undefined =>
  path === undefined || path === '' ? path : resolve(folder, path)

const absoluteCluster =
  (folder: string) =>
  (entry: ClusterEntry): ClusterEntry => {
    const ca = absolutePath(folder, entry['certificate-authority'])
    return ca === undefined ? entry : { ...entry, 'certificate-authority': ca }
  }

const absoluteUser =
  (folder: string) =>
  (entry: UserEntry): UserEntry => {
    const changed: Record<string, unknown> = { ...entry }
    for (const name of ['client-certificate', 'client-key', 'tokenFile'] as const) {
      const path = absolutePath(folder, entry[name])
      if (path !== undefined) changed[name] = path
    }
    // A command without a slash is looked up in PATH.
    const command = entry.exec?.command ?? ''
    if (/[/\\]/.test(command)) changed['exec'] = { ...entry.exec, command: resolve(folder, command) }
    return changed as UserEntry
  }

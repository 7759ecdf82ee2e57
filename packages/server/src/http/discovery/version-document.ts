// The document of `/version`: the API release that is implemented, and the build.

import { arch, platform } from 'node:process'
import type { Document } from './discovery-documents.js'

const major = '1'
const minor = '26'

export const versionDocument = (): Document => ({
  major,
  minor,
  gitVersion: `v${major}.${minor}.8`,
  gitCommit: buildInfo.commit,
  gitTreeState: buildInfo.treeState,
  buildDate: buildInfo.date,
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${platform}/${arch === 'x64' ? 'amd64' : arch}`,
})

interface BuildInfo {
  readonly commit: string
  readonly treeState: string
  readonly date: string
}

/** Defined by the bundler. */
declare const BUILD_INFO: BuildInfo | undefined

/** Without a build, such as in unit tests. */
const unknown: BuildInfo = { commit: '0000000000000000000000000000000000000000', treeState: 'archive', date: '1970-01-01T00:00:00Z' }

const buildInfo: BuildInfo = typeof BUILD_INFO === 'undefined' ? unknown : BUILD_INFO

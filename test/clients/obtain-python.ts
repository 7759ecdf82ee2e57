// Obtains Python and the Kubernetes client from Debian.

import { install, type Obtained, obtain, runToEnd } from './obtain.js'

const packageName = 'python3-kubernetes'

/** The interpreter of the distribution: other interpreters do not find packages of the distribution. */
const interpreter = '/usr/bin/python3'

export const obtainPython = (): Promise<Obtained> => obtain(packageName, findPython)

async function findPython(): Promise<string> {
  if (await hasClient()) return interpreter
  if (process.getuid?.() !== 0) throw new Error(`${packageName} is not installed, and installing it needs root`)
  const args = ['install', '--yes', '--quiet', '--no-install-recommends', packageName]
  try {
    await install('apt-get', args)
  } catch {
    await install('apt-get', ['update', '--quiet'])
    await install('apt-get', args)
  }
  if (!(await hasClient())) throw new Error('it was installed, but cannot be imported')
  return interpreter
}

async function hasClient(): Promise<boolean> {
  return (await runToEnd(interpreter, ['-c', 'import kubernetes'])).code === 0
}

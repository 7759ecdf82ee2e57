// Table of commands with one-line descriptions. Modules are imported when a command runs.

import type { Command } from './command.js'

export interface CommandEntry {
  readonly about: string
  load(): Promise<Command>
}

type CommandIn<M> = { [K in keyof M]: M[K] extends Command ? K : never }[keyof M]

function commandsIn<M extends object>(
  loadModule: () => Promise<M>,
  entries: { readonly [name: string]: readonly [about: string, exported: CommandIn<M>] },
): { readonly [name: string]: CommandEntry } {
  const load = (exported: CommandIn<M>) => async (): Promise<Command> => (await loadModule())[exported] as Command
  return Object.fromEntries(Object.entries(entries).map(([name, [about, exported]]) => [name, { about, load: load(exported) }]))
}

const singleCommand = (about: string, loadModule: () => Promise<{ readonly command: Command }>): CommandEntry => ({
  about,
  load: async () => (await loadModule()).command,
})

export const commands: { readonly [name: string]: CommandEntry } = {
  get: singleCommand('show objects', () => import('../commands/read/get.js')),
  describe: singleCommand('show everything about objects', () => import('../commands/read/describe.js')),
  create: singleCommand('create objects from files', () => import('../commands/create/create.js')),
  ...commandsIn(() => import('../commands/create/create-policy.js'), {
    'create namespace': ['create a namespace', 'createNamespace'],
    'create quota': ['create a quota', 'createQuota'],
    'create poddisruptionbudget': ['create a pod disruption budget', 'createDisruptionBudget'],
    'create priorityclass': ['create a priority class', 'createPriorityClass'],
  }),
  ...commandsIn(() => import('../commands/create/create-secret.js'), {
    'create configmap': ['create a config map', 'createConfigMap'],
    'create secret generic': ['create a secret from values and files', 'createSecret'],
    'create secret tls': ['create a secret from a certificate and its key', 'createTlsSecret'],
    'create secret docker-registry': ['create a secret for pulling images', 'createRegistrySecret'],
  }),
  ...commandsIn(() => import('../commands/create/create-service.js'), {
    'create service clusterip': ['create a service with a cluster IP', 'clusterIp'],
    'create service nodeport': ['create a service with a port on every node', 'nodePort'],
    'create service loadbalancer': ['create a service behind a load balancer', 'loadBalancer'],
    'create service externalname': ['create a service that is an alias of a DNS name', 'externalName'],
  }),
  'create ingress': singleCommand('create an ingress', () => import('../commands/create/create-ingress.js')),
  ...commandsIn(() => import('../commands/create/create-workload.js'), {
    'create job': ['create a job', 'createJob'],
    'create cronjob': ['create a cron job', 'createCronJob'],
    'create deployment': ['create a deployment', 'createDeployment'],
  }),
  ...commandsIn(() => import('../commands/create/create-access.js'), {
    'create serviceaccount': ['create a service account', 'createServiceAccount'],
    'create role': ['create a role', 'createRole'],
    'create clusterrole': ['create a cluster role', 'createClusterRole'],
    'create rolebinding': ['bind a role in a namespace', 'createRoleBinding'],
    'create clusterrolebinding': ['bind a cluster role', 'createClusterRoleBinding'],
  }),
  'create token': singleCommand('request a token of a service account', () => import('../commands/create/create-token.js')),
  apply: singleCommand('apply files to objects', () => import('../commands/write/apply.js')),
  diff: singleCommand('show what an apply would change', () => import('../commands/write/diff.js')),
  delete: singleCommand('delete objects', () => import('../commands/write/delete.js')),
  replace: singleCommand('replace objects by those in files', () => import('../commands/write/replace.js')),
  edit: singleCommand('edit objects in an editor', () => import('../commands/write/edit.js')),
  patch: singleCommand('patch an object', () => import('../commands/write/patch.js')),
  ...commandsIn(() => import('../commands/write/label.js'), {
    label: ['set and remove labels', 'label'],
    annotate: ['set and remove annotations', 'annotate'],
  }),
  scale: singleCommand('set the number of replicas', () => import('../commands/workloads/scale.js')),
  'set image': singleCommand('change the images of containers', () => import('../commands/workloads/set-image.js')),
  'set env': singleCommand('change the environment variables of containers', () => import('../commands/workloads/set-env.js')),
  run: singleCommand('run an image in a pod', () => import('../commands/create/run.js')),
  expose: singleCommand('create a service for a workload', () => import('../commands/create/expose.js')),
  ...commandsIn(() => import('../commands/workloads/rollout.js'), {
    'rollout status': ['follow a rollout until it is done', 'rolloutStatus'],
    'rollout history': ['show the revisions of a workload', 'rolloutHistory'],
    'rollout undo': ['go back to an earlier revision', 'rolloutUndo'],
    'rollout restart': ['restart all pods of a workload', 'rolloutRestart'],
    'rollout pause': ['pause the rollout of a deployment', 'rolloutPause'],
    'rollout resume': ['resume the rollout of a deployment', 'rolloutResume'],
  }),
  ...commandsIn(() => import('../commands/workloads/nodes.js'), {
    cordon: ['mark nodes as unschedulable', 'cordon'],
    uncordon: ['mark nodes as schedulable', 'uncordon'],
    taint: ['set and remove taints of nodes', 'taint'],
  }),
  drain: singleCommand('evict the pods of nodes before maintenance', () => import('../commands/workloads/drain.js')),
  wait: singleCommand('wait for a condition', () => import('../commands/read/wait.js')),
  logs: singleCommand('show the logs of containers', () => import('../commands/pods/logs.js')),
  exec: singleCommand('run a command in a container', () => import('../commands/pods/exec.js')),
  attach: singleCommand('attach to a running container', () => import('../commands/pods/attach.js')),
  cp: singleCommand('copy files to and from containers', () => import('../commands/pods/cp.js')),
  'port-forward': singleCommand('forward local ports to a pod', () => import('../commands/pods/port-forward.js')),
  proxy: singleCommand('serve the API on a local port with your credentials', () => import('../commands/server/proxy.js')),
  console: singleCommand('open the web console of the server, signed in', () => import('../commands/server/console.js')),
  explain: singleCommand('show the documentation of fields', () => import('../commands/read/explain.js')),
  ...commandsIn(() => import('../commands/server/api-resources.js'), {
    'api-resources': ['list the resources of the server', 'apiResources'],
    'api-versions': ['list the API groups and versions', 'apiVersions'],
  }),
  'auth can-i': singleCommand('check whether you are authorized', () => import('../commands/auth/auth-can-i.js')),
  'auth whoami': singleCommand('show who the server authenticates you as', () => import('../commands/auth/auth-whoami.js')),
  'auth reconcile': singleCommand(
    'add missing permissions and subjects to roles and bindings',
    () => import('../commands/auth/auth-reconcile.js'),
  ),
  ...commandsIn(() => import('../commands/auth/certificate.js'), {
    'certificate approve': ['approve certificate signing requests', 'approve'],
    'certificate deny': ['deny certificate signing requests', 'deny'],
  }),
  'config view': singleCommand('show the client configuration', () => import('../commands/config/config-view.js')),
  ...commandsIn(() => import('../commands/config/config-set.js'), {
    'config set': ['set a value in the client configuration', 'configSet'],
    'config unset': ['remove a value from the client configuration', 'configUnset'],
  }),
  ...commandsIn(() => import('../commands/config/config-contexts.js'), {
    'config get-contexts': ['list the contexts', 'getContexts'],
    'config current-context': ['show the current context', 'currentContext'],
    'config use-context': ['switch to another context', 'useContext'],
    'config set-context': ['create or change a context', 'setContext'],
    'config rename-context': ['rename a context', 'renameContext'],
  }),
  ...commandsIn(() => import('../commands/config/config-entries.js'), {
    'config delete-context': ['delete a context', 'deleteContext'],
    'config get-clusters': ['list the clusters', 'getClusters'],
    'config set-cluster': ['create or change a cluster', 'setCluster'],
    'config delete-cluster': ['delete a cluster', 'deleteCluster'],
    'config get-users': ['list the users', 'getUsers'],
    'config set-credentials': ['create or change a user', 'setCredentials'],
    'config delete-user': ['delete a user', 'deleteUser'],
  }),
  ...commandsIn(() => import('../commands/read/top.js'), {
    'top node': ['show the CPU and memory usage of nodes', 'topNode'],
    'top pod': ['show the CPU and memory usage of pods', 'topPod'],
  }),
  events: singleCommand('show events', () => import('../commands/read/events.js')),
  blame: singleCommand('show which field manager set each field, and when', () => import('../commands/read/blame.js')),
  completion: singleCommand('print a completion script for bash, zsh or fish', () => import('../commands/server/completion.js')),
  version: singleCommand('show versions', () => import('../commands/server/version.js')),
}

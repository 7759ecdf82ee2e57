// Every command by its name, with one line about it; each is loaded when it is called.

import type { Command } from './command.js'

export interface CommandEntry {
  readonly about: string
  load(): Promise<Command>
}

export const commands: { readonly [name: string]: CommandEntry } = {
  get: { about: 'show objects', load: async () => (await import('./commands/get.js')).command },
  describe: { about: 'show everything about objects', load: async () => (await import('./commands/describe.js')).command },
  create: { about: 'create what files say', load: async () => (await import('./commands/create.js')).command },
  'create namespace': { about: 'create a namespace', load: async () => (await import('./commands/create-namespace.js')).command },
  'create configmap': { about: 'create a config map', load: async () => (await import('./commands/create-configmap.js')).command },
  'create secret generic': {
    about: 'create a secret from values and files',
    load: async () => (await import('./commands/create-secret-generic.js')).command,
  },
  'create secret tls': {
    about: 'create a secret from a certificate and its key',
    load: async () => (await import('./commands/create-secret-tls.js')).command,
  },
  'create secret docker-registry': {
    about: 'create a secret with which images are fetched',
    load: async () => (await import('./commands/create-secret-docker-registry.js')).command,
  },
  'create service clusterip': {
    about: 'create a service with an address of its own',
    load: async () => (await import('./commands/create-service.js')).clusterIp,
  },
  'create service nodeport': {
    about: 'create a service with a port on every node',
    load: async () => (await import('./commands/create-service.js')).nodePort,
  },
  'create service loadbalancer': {
    about: 'create a service behind a load balancer',
    load: async () => (await import('./commands/create-service.js')).loadBalancer,
  },
  'create service externalname': {
    about: 'create a service that stands for a name elsewhere',
    load: async () => (await import('./commands/create-service.js')).externalName,
  },
  'create ingress': { about: 'create an ingress', load: async () => (await import('./commands/create-ingress.js')).command },
  'create job': { about: 'create a job', load: async () => (await import('./commands/create-job.js')).command },
  'create cronjob': { about: 'create a cron job', load: async () => (await import('./commands/create-cronjob.js')).command },
  'create quota': { about: 'create a quota', load: async () => (await import('./commands/create-quota.js')).command },
  'create poddisruptionbudget': {
    about: 'create a budget for disruptions',
    load: async () => (await import('./commands/create-poddisruptionbudget.js')).command,
  },
  'create priorityclass': {
    about: 'create a class of priorities',
    load: async () => (await import('./commands/create-priorityclass.js')).command,
  },
  'create serviceaccount': {
    about: 'create a service account',
    load: async () => (await import('./commands/create-serviceaccount.js')).command,
  },
  'create deployment': { about: 'create a deployment', load: async () => (await import('./commands/create-deployment.js')).command },
  'create role': { about: 'create a role', load: async () => (await import('./commands/create-role.js')).command },
  'create clusterrole': { about: 'create a cluster role', load: async () => (await import('./commands/create-clusterrole.js')).command },
  'create rolebinding': {
    about: 'bind a role in a namespace',
    load: async () => (await import('./commands/create-rolebinding.js')).command,
  },
  'create clusterrolebinding': {
    about: 'bind a cluster role',
    load: async () => (await import('./commands/create-clusterrolebinding.js')).command,
  },
  'create token': { about: 'ask for a token of a service account', load: async () => (await import('./commands/create-token.js')).command },
  apply: { about: 'make objects what files say', load: async () => (await import('./commands/apply.js')).command },
  diff: { about: 'show what an apply would change', load: async () => (await import('./commands/diff.js')).command },
  delete: { about: 'delete objects', load: async () => (await import('./commands/delete.js')).command },
  replace: { about: 'put what files say in the place of what is there', load: async () => (await import('./commands/replace.js')).command },
  edit: { about: 'change an object in an editor', load: async () => (await import('./commands/edit.js')).command },
  patch: { about: 'change parts of an object', load: async () => (await import('./commands/patch.js')).command },
  label: { about: 'set and remove labels', load: async () => (await import('./commands/label.js')).command },
  annotate: { about: 'set and remove annotations', load: async () => (await import('./commands/annotate.js')).command },
  scale: { about: 'say how many there shall be', load: async () => (await import('./commands/scale.js')).command },
  'set image': { about: 'give containers other images', load: async () => (await import('./commands/set-image.js')).command },
  run: { about: 'run an image in a pod', load: async () => (await import('./commands/run.js')).command },
  expose: { about: 'make a service for what runs', load: async () => (await import('./commands/expose.js')).command },
  'rollout status': {
    about: 'follow a rollout until it is done',
    load: async () => (await import('./commands/rollout-status.js')).command,
  },
  'rollout history': {
    about: 'show the revisions of a workload',
    load: async () => (await import('./commands/rollout-history.js')).command,
  },
  'rollout undo': { about: 'go back to an earlier revision', load: async () => (await import('./commands/rollout-undo.js')).command },
  'rollout restart': {
    about: 'have all pods of a workload made anew',
    load: async () => (await import('./commands/rollout-restart.js')).command,
  },
  'rollout pause': { about: 'let changes of a deployment wait', load: async () => (await import('./commands/rollout-pause.js')).command },
  'rollout resume': { about: 'let a deployment go on', load: async () => (await import('./commands/rollout-resume.js')).command },
  cordon: { about: 'let nodes take no more pods', load: async () => (await import('./commands/cordon.js')).command },
  uncordon: { about: 'let nodes take pods again', load: async () => (await import('./commands/uncordon.js')).command },
  taint: { about: 'set and remove taints of nodes', load: async () => (await import('./commands/taint.js')).command },
  wait: { about: 'wait until something is so', load: async () => (await import('./commands/wait.js')).command },
  logs: { about: 'show what containers have logged', load: async () => (await import('./commands/logs.js')).command },
  exec: { about: 'run a command in a container', load: async () => (await import('./commands/exec.js')).command },
  'port-forward': {
    about: 'pass ports of this machine on to a pod',
    load: async () => (await import('./commands/port-forward.js')).command,
  },
  proxy: {
    about: 'let programs of this machine talk to the server in our name',
    load: async () => (await import('./commands/proxy.js')).command,
  },
  explain: { about: 'show what the fields of a kind mean', load: async () => (await import('./commands/explain.js')).command },
  'api-resources': { about: 'show what the server serves', load: async () => (await import('./commands/api-resources.js')).command },
  'api-versions': { about: 'show groups and versions', load: async () => (await import('./commands/api-versions.js')).command },
  'auth can-i': { about: 'say whether we may do something', load: async () => (await import('./commands/auth-can-i.js')).command },
  'auth whoami': { about: 'say whom the server takes us for', load: async () => (await import('./commands/auth-whoami.js')).command },
  'auth reconcile': {
    about: 'make roles and bindings give at least what files say',
    load: async () => (await import('./commands/auth-reconcile.js')).command,
  },
  'certificate approve': {
    about: 'approve requests for certificates',
    load: async () => (await import('./commands/certificate-approve.js')).command,
  },
  'certificate deny': {
    about: 'deny requests for certificates',
    load: async () => (await import('./commands/certificate-deny.js')).command,
  },
  'config view': { about: 'show the client configuration', load: async () => (await import('./commands/config-view.js')).command },
  'config set': { about: 'set one value of the configuration', load: async () => (await import('./commands/config-set.js')).command },
  'config unset': {
    about: 'take one value out of the configuration',
    load: async () => (await import('./commands/config-unset.js')).command,
  },
  'config get-contexts': {
    about: 'show the contexts of the configuration',
    load: async () => (await import('./commands/config-contexts.js')).getContexts,
  },
  'config current-context': {
    about: 'show the context that counts',
    load: async () => (await import('./commands/config-contexts.js')).currentContext,
  },
  'config use-context': {
    about: 'let another context count',
    load: async () => (await import('./commands/config-contexts.js')).useContext,
  },
  'config set-context': { about: 'make or change a context', load: async () => (await import('./commands/config-contexts.js')).setContext },
  'config rename-context': {
    about: 'give a context another name',
    load: async () => (await import('./commands/config-contexts.js')).renameContext,
  },
  'config delete-context': { about: 'remove a context', load: async () => (await import('./commands/config-entries.js')).deleteContext },
  'config get-clusters': {
    about: 'show the clusters of the configuration',
    load: async () => (await import('./commands/config-entries.js')).getClusters,
  },
  'config set-cluster': { about: 'make or change a cluster', load: async () => (await import('./commands/config-entries.js')).setCluster },
  'config delete-cluster': { about: 'remove a cluster', load: async () => (await import('./commands/config-entries.js')).deleteCluster },
  'config get-users': {
    about: 'show the users of the configuration',
    load: async () => (await import('./commands/config-entries.js')).getUsers,
  },
  'config set-credentials': {
    about: 'make or change a user',
    load: async () => (await import('./commands/config-entries.js')).setCredentials,
  },
  'config delete-user': { about: 'remove a user', load: async () => (await import('./commands/config-entries.js')).deleteUser },
  events: { about: 'show what was told about objects', load: async () => (await import('./commands/events.js')).command },
  blame: {
    about: 'show who owns each field of an object, and since when',
    load: async () => (await import('./commands/blame.js')).command,
  },
  completion: { about: 'print a script for bash, zsh or fish', load: async () => (await import('./commands/completion.js')).command },
  version: { about: 'show versions', load: async () => (await import('./commands/version.js')).command },
}

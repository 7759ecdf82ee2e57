// Commands that people know from kubectl and that are not here, with what does the same.

export const elsewhere: { readonly [command: string]: string } = {
  attach: 'use "clusterctl logs -f", or "clusterctl exec"',
  autoscale: 'write a HorizontalPodAutoscaler into a file, and apply it',
  'cluster-info': '"clusterctl config view --minify" shows the server, and "clusterctl get --raw /readyz?verbose" how it is',
  cp: 'use "clusterctl exec POD -- cat FILE > FILE", or "clusterctl exec -i POD -- tee FILE < FILE"',
  debug: 'use "clusterctl exec"',
  drain: 'use "clusterctl cordon NODE", and "clusterctl delete pods -A --field-selector spec.nodeName=NODE"',
  kustomize: 'pass what another program makes of it on: "clusterctl apply -f -"',
  options: '"clusterctl help" shows the flags of all commands',
  plugin: 'plugins are not supported',
  'set env': 'use "clusterctl patch" or "clusterctl edit"',
  'set resources': 'use "clusterctl patch" or "clusterctl edit"',
  'set selector': 'use "clusterctl patch"',
  'set serviceaccount': 'use "clusterctl patch" or "clusterctl edit"',
  'set subject': 'use "clusterctl edit", or "clusterctl create rolebinding"',
  top: 'the server keeps no figures of use: ask the extension server that has them with "clusterctl get --raw"',
}

// Commands that people know from kubectl and that are not here, with what does the same.

export const elsewhere: { readonly [command: string]: string } = {
  attach: 'use "clusterctl logs -f", or "clusterctl exec"',
  autoscale: 'write a HorizontalPodAutoscaler into a file, and apply it',
  'cluster-info': '"clusterctl config view --minify" shows the server, and "clusterctl get --raw /readyz?verbose" how it is',
  cordon: `use "clusterctl patch node NAME --type=merge -p '{"spec":{"unschedulable":true}}'"`,
  cp: 'use "clusterctl exec POD -- cat FILE > FILE", or "clusterctl exec -i POD -- tee FILE < FILE"',
  debug: 'use "clusterctl exec"',
  drain: `use "clusterctl patch node NAME --type=merge -p '{"spec":{"unschedulable":true}}'", and delete its pods`,
  expose: 'write a Service into a file, and apply it',
  kustomize: 'pass what another program makes of it on: "clusterctl apply -f -"',
  options: '"clusterctl help" shows the flags of all commands',
  plugin: 'plugins are not supported',
  run: 'write a Pod into a file and apply it, or use "clusterctl create deployment"',
  set: 'use "clusterctl patch", "clusterctl edit" or "clusterctl scale"',
  taint: 'use "clusterctl edit node", or "clusterctl patch"',
  top: 'the server keeps no figures of use: ask the extension server that has them with "clusterctl get --raw"',
  uncordon: `use "clusterctl patch node NAME --type=merge -p '{"spec":{"unschedulable":null}}'"`,
}

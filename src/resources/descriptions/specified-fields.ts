// What is said about the fields of the kinds at the heart of this server: accounts, endpoints, claims of resources and their classes.

export const specifiedFields: { readonly [type: string]: { readonly [field: string]: string } } = {
  ServiceAccount: {
    secrets: 'Secrets that pods running as this account may use, by name.',
    imagePullSecrets: 'Secrets with which the images of such pods are pulled.',
    automountServiceAccountToken: 'Whether such pods get a token of the account; a pod may say otherwise.',
  },
  Endpoints: { subsets: 'The addresses, grouped by the ports that they have in common.' },
  EndpointSubset: {
    addresses: 'Addresses that are ready.',
    notReadyAddresses: 'Addresses that have yet to start, or are not well.',
    ports: 'The ports of all these addresses.',
  },
  EndpointAddress: {
    ip: 'The IP address; not one of the machine itself or of its network alone.',
    hostname: 'The name of this address.',
    nodeName: 'The node that it is on.',
    targetRef: 'The object that has this address.',
  },
  EndpointPort: {
    name: 'The name of the port; may be empty where there is only one.',
    port: 'The number of the port.',
    protocol: 'TCP, UDP or SCTP; TCP if nothing is said.',
    appProtocol: 'The protocol that is spoken on it, such as https.',
  },
  ResourceClaim: {
    spec: 'What is claimed; never changes.',
    status: 'How far allocation has come, and who may use the resource.',
  },
  ResourceClaimSpec: {
    resourceClassName: 'The class, which names the driver.',
    parametersRef: 'Where the driver finds its parameters for this claim.',
    allocationMode: 'When to allocate: Immediate, or WaitForFirstConsumer until a pod needs it.',
  },
  ResourceClaimStatus: {
    driverName: 'The driver that allocated the resource.',
    allocation: 'What was allocated; set by the driver.',
    reservedFor: 'Who may use the resource now, at most 32; no two of the same uid.',
    deallocationRequested: 'That the resource shall be given back; nobody new may reserve it then.',
  },
  AllocationResult: {
    resourceHandle: 'What the driver needs to know to find the resource again.',
    availableOnNodes: 'The nodes on which the resource can be used; all of them if nothing is said.',
    shareable: 'Whether more than one may use the resource at a time.',
  },
  ResourceClaimConsumerReference: {
    apiGroup: 'The group of the consumer; empty for the core.',
    resource: 'The resource of the consumer, such as pods.',
    name: 'The name of the consumer.',
    uid: 'The uid of the consumer.',
  },
  ResourceClaimParametersReference: {
    apiGroup: 'The group of the object; empty for the core.',
    kind: 'The kind of the object.',
    name: 'The name of the object, which lies in the namespace of the claim.',
  },
  ResourceClaimTemplate: { spec: 'What claims made from it look like; never changes.' },
  ResourceClaimTemplateSpec: {
    metadata: 'Labels and annotations for the claims.',
    spec: 'What the claims say.',
  },
  ResourceClass: {
    driverName: 'The driver that hands out resources of this class.',
    parametersRef: 'Where the driver finds its parameters for all claims of this class.',
    suitableNodes: 'The nodes on which resources of this class can be used; all of them if nothing is said.',
  },
  ResourceClassParametersReference: {
    apiGroup: 'The group of the object; empty for the core.',
    kind: 'The kind of the object.',
    name: 'The name of the object.',
    namespace: 'The namespace of the object; empty for objects of the whole cluster.',
  },
  PodScheduling: {
    spec: 'What the scheduler asks.',
    status: 'What the drivers answer.',
  },
  PodSchedulingSpec: {
    selectedNode: 'The node for which the claims of the pod shall be allocated.',
    potentialNodes: 'Nodes that would suit the pod otherwise, at most 128.',
  },
  PodSchedulingStatus: { resourceClaims: 'What each driver says about the nodes, by claim.' },
  ResourceClaimSchedulingStatus: {
    name: 'The name of the claim in the pod.',
    unsuitableNodes: 'Nodes on which the claim cannot be served, at most 128.',
  },
  ObjectReference: {
    kind: 'The kind of the object.',
    namespace: 'The namespace of the object.',
    name: 'The name of the object.',
    uid: 'The uid of the object.',
    apiVersion: 'The group and version of the object.',
    resourceVersion: 'The version of the object that is meant, where one is.',
    fieldPath: 'The part of the object that is meant, where it is not the whole.',
  },
  LocalObjectReference: { name: 'The name of the object.' },
  NodeSelector: { nodeSelectorTerms: 'The terms, one of which must hold.' },
  NodeSelectorTerm: {
    matchExpressions: 'Requirements on the labels of the node.',
    matchFields: 'Requirements on the fields of the node.',
  },
  NodeSelectorRequirement: {
    key: 'The label or the field.',
    operator: 'How it and the values belong together: In, NotIn, Exists, DoesNotExist, Gt or Lt.',
    values: 'The values for In and NotIn, one number for Gt and Lt, and none for the others.',
  },
  TokenRequestSpec: {
    audiences: 'For whom the token is; others are to refuse it.',
    expirationSeconds: 'For how long the token is wanted; the server may decide otherwise.',
    boundObjectRef: 'A pod or a secret with which the token ends.',
  },
  TokenRequestStatus: {
    token: 'The token.',
    expirationTimestamp: 'When the token ends.',
  },
}

// An endpoint of a spec, in a TypeScript app: its template takes the app's own resources as parameters.
import * as cdk from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as sagemaker from 'aws-cdk-lib/aws-sagemaker';
import * as sns from 'aws-cdk-lib/aws-sns';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';

const app = new cdk.App();
const stack = new cdk.Stack(app, 'Basket', { env: { region: 'us-east-1' } });
const vpc = new ec2.Vpc(stack, 'Vpc', { maxAzs: 2 });
const group = new ec2.SecurityGroup(stack, 'Group', { vpc });
const weights = new s3.Bucket(stack, 'Weights');
const oncall = new sns.Topic(stack, 'Oncall');

const basket = new CfnInclude(stack, 'Endpoint', {
  templateFile: 'templates/basket.template.json',
  parameters: {
    Weights: weights.bucketName,
    Subnets: vpc.privateSubnets.map((subnet) => subnet.subnetId),
    Group: group.securityGroupId,
    Oncall: oncall.topicArn,
  },
});

// The resources are L1s, under the logical ids that `inferstack render` printed.
const endpoint = basket.getResource('Endpoint') as sagemaker.CfnEndpoint;
const model = basket.getResource('Model') as sagemaker.CfnModel;
model.node.addDependency(vpc); // its files come through the VPC's routes

const caller = new iam.Role(stack, 'Caller', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
caller.addToPolicy(new iam.PolicyStatement({ actions: ['sagemaker:InvokeEndpoint'], resources: [endpoint.ref] }));

new cloudwatch.Alarm(stack, 'Silence', {
  metric: new cloudwatch.Metric({
    namespace: 'AWS/SageMaker',
    metricName: 'Invocations',
    dimensionsMap: { EndpointName: endpoint.attrEndpointName, VariantName: 'AllTraffic' },
    statistic: 'Sum',
  }),
  threshold: 1,
  evaluationPeriods: 3,
  comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
});

app.synth();
